"""Modules of torch's own are compiled one by one.

kind: recompile
advice: one module of yours
"""

import torch

torch.manual_seed(0)
to_hidden = torch.compile(torch.nn.Linear(4, 8), backend="eager")
to_output = torch.compile(torch.nn.Linear(8, 2), backend="eager")

for value in range(3):
    x = torch.full((1, 4), float(value))
    hidden = to_hidden(x)
    print(to_output(hidden).tolist())  # cause
