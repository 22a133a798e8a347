"""How times are compared: measured in turn, by their ratios, on a machine that may be busy.

The standard library alone, since `measuring` needs it in the program's Python as well.
"""
