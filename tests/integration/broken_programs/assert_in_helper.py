"""The same in a helper that a model's method calls.

kind: graph break
advice: constant text
"""

import torch


def check_range(values, name):
    assert values.min() >= 0, "%s is negative" % name  # cause
    return values


class Root(torch.nn.Module):
    def forward(self, x):
        x = check_range(x * 2, "the input")
        return x.sqrt()


model = torch.compile(Root(), backend="eager")
print(model(torch.tensor([1.0, 4.0])).tolist())
