"""The gradient of a value inside is kept, to look at it.

kind: fell back to eager
advice: end the compiled function

Made after a pattern common in interpretability (retain_grad, captum).
"""

import torch


@torch.compile(backend="aot_eager")
def model(x):
    hidden = x.sin()
    hidden.retain_grad()  # cause
    return (hidden * 2).sum(), hidden


x = torch.ones(4, requires_grad=True)
for _ in range(2):
    loss, hidden = model(x)
    loss.backward()
    print(hidden.grad.tolist())
