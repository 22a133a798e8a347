"""Another function in each call.

kind: recompile
advice: outside
"""

import torch


@torch.compile(backend="eager")
def applied(function, x):
    return function(x) * 2  # cause


for function in (lambda x: x + 1, lambda x: x + 2, lambda x: x + 3):
    print(applied(function, torch.ones(2)).tolist())
