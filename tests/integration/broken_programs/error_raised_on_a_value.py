"""An exception that is raised by what a tensor holds.

kind: graph break
advice: out of the compiled code
"""

import torch


@torch.compile(backend="eager")
def checked(x):
    y = x.log()
    if torch.isnan(y).any():  # cause
        raise ValueError("not a number")
    return y.exp()


print(checked(torch.tensor([1.0, 2.0])).tolist())
