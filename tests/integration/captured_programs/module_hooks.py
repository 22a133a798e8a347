"""Forward pre-hooks, forward hooks and full backward hooks on outer and inner modules."""

import torch
from torch import nn

torch.manual_seed(0)
calls = []


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.inner(x).relu()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Net()
model.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
model.register_forward_hook(lambda m, args, out: out.sum(1))
model.blocks[0].inner.register_forward_hook(lambda m, args, out: calls.append(out.sum().item()))
model.blocks[1].register_full_backward_hook(lambda m, gi, go: calls.append(go[0].abs().sum().item()))
model.blocks[1].inner.register_full_backward_pre_hook(lambda m, go: (go[0] * 0.5,))
handle = model.register_full_backward_hook(lambda m, gi, go: calls.append(("outer", go[0].tolist())))
for step in range(3):
    x = torch.full((2, 4), step + 1.0, requires_grad=True)
    model(x).pow(2).sum().backward()
    print(step, x.grad.tolist(), calls)
    calls.clear()
    if step == 1:
        handle.remove()
print(model.blocks[1].inner.weight.grad.norm().item())
