"""A table for positions that the first call makes, and that is made again where it is not for training."""

import torch


class Rotary(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        rates = 100.0 ** -torch.linspace(0, 1, width)
        self.register_buffer("table", torch.outer(torch.arange(16), rates).cos())

    def forward(self, x):
        return x * self.table[: x.shape[0]]


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), Rotary(4), torch.nn.Linear(4, 4), Rotary(4))
compiled = torch.compile(model, backend="eager")
x = torch.ones(6, 4)
model.eval()
with torch.inference_mode():
    print(round(compiled(x).sum().item(), 4))
model.train()
for _ in range(3):
    loss = compiled(x).square().sum()
    loss.backward()
    print(round(loss.item(), 4))
