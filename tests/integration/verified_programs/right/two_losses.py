"""Two losses of one call have a backward each."""

import torch


@torch.compile(backend="aot_eager")
def step(x, w):
    hidden = x * w
    return hidden.sum(), (hidden * hidden).sum()


x, w = torch.ones(2), torch.full((2,), 3.0, requires_grad=True)
first, second = step(x, w)
first.backward(retain_graph=True)
print(w.grad)
second.backward()
print(w.grad)
