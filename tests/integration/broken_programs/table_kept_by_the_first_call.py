"""A table for positions that the first call makes, and that is made again where it is not for training.

kind: graph break
advice: persistent=False
source: https://github.com/nomic-ai/contrastors/pull/83
"""

import torch


class Rotary(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rates", 100.0 ** -torch.linspace(0, 1, width))
        self.known = 0
        self.table = None

    def update(self, length):
        if length > self.known or (self.training and self.table.is_inference()):  # cause
            self.known = length
            self.table = torch.outer(torch.arange(length), self.rates).cos()

    def forward(self, x):
        self.update(x.shape[0])
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
