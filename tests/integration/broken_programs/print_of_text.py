"""A print of text alone.

kind: graph break
advice: reorderable_logging_functions
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x.sin()
        print("in forward")  # cause
        return y.cos()


model = torch.compile(Model(), backend="eager")
print(model(torch.ones(2)).tolist())
