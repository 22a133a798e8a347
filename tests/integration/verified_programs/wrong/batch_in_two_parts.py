"""A backend of the program's own runs a graph on two halves of a batch: what goes over all rows is wrong.

Planted.
kind: value
stage: in_two_parts
"""

import torch


def in_two_parts(graph, inputs):
    """Needs less memory: the first dimension of what has the batch's size is cut in two."""
    size = max(value.shape[0] for value in inputs if value.dim() > 1)

    def part(value, at):
        return value.tensor_split(2)[at] if value.dim() > 1 and value.shape[0] == size else value

    def run(*values):
        if not any(value.dim() > 1 and value.shape[0] == size for value in values):
            return graph(*values)
        halves = [graph(*(part(value, at) for value in values)) for at in (0, 1)]
        return [torch.cat(both) if both[0].dim() else both[0] for both in zip(*halves, strict=True)]

    return run


class Scaled(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.full((width,), 0.5))

    def rows(self, x):
        return x / x.norm(dim=1, keepdim=True)

    def columns(self, x):
        peak = x.amax(dim=0, keepdim=True)  # cause
        return x / peak

    def forward(self, x):
        x = torch.cos(x * self.gain)
        x = self.rows(x)
        x = self.columns(x)
        x = x * 2.0
        return x.sin()


model = torch.compile(Scaled(3), backend=in_two_parts)
with torch.no_grad():
    print(model(torch.arange(18.0).reshape(6, 3)).sum(dim=1).tolist())
