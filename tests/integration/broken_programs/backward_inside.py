"""A whole training step is compiled, with its backward pass.

kind: graph break
advice: trace_autograd_ops
"""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)


@torch.compile(backend="aot_eager")
def step(x, y):
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()  # cause
    return loss.detach()


for _ in range(3):
    print(step(torch.ones(2, 4), torch.zeros(2, 1)).item())
    print(model.weight.grad.tolist())
    model.zero_grad()
