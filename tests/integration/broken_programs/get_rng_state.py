"""The state of the random numbers is kept.

kind: graph break
advice: in front of the call
"""

import torch


@torch.compile(backend="eager")
def noisy(x):
    y = x.sin()
    state = torch.get_rng_state()  # cause
    return y.cos(), state


torch.manual_seed(0)
print(noisy(torch.ones(2))[0].tolist())
