"""A backend that is wrong where a value is 40.5, which random numbers are not.

origin: graph
kind: wrong result
values: 1
"""

import torch


def wrong_at_one_value(gm, example_inputs):
    """Compute what the graph does, but for exp(40.5)."""

    def call(*inputs):
        (result,) = gm(*inputs)
        return (torch.where((inputs[0] == 40.5).any(), result + 1e30, result),)

    return call


@torch.compile(backend=wrong_at_one_value)
def score(rows, scale):
    """Exponents of rows, summed."""
    return (rows.exp() * scale).sum(dim=1)


levels = torch.linspace(0.0, 1.0, 48).reshape(4, 12)
levels[2, 5] = 40.5
score(levels, torch.ones(12))
