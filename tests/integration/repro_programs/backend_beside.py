"""The backend of backend_in_a_module.py.

origin: none
kind: none
"""

DIGITS = 0


def rounding(gm, example_inputs):
    def call(*args):
        return tuple(each.round(decimals=DIGITS) for each in gm(*args))

    return call
