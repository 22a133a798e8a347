"""An assert whose message is made of a value.

kind: graph break
advice: constant text
"""

import torch


@torch.compile(backend="eager")
def normalized(x):
    total = x.exp().sum()
    assert total > 0, f"the total is {total}"  # cause
    return x / total


print(normalized(torch.tensor([1.0, 2.0])).tolist())
