"""An assert of `not`.

kind: graph break
advice: torch.logical_not
"""

import torch


@torch.compile(backend="eager")
def checked(x):
    y = x.log()
    assert not y.isnan().any(), "not a number"  # cause
    return y.exp()


print(checked(torch.ones(2)).tolist())
