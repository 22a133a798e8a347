"""Both are calculated, and one is chosen in the graph."""

import torch


class Blocks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rest", torch.full((4,), 0.5))

    def hardly_changed(self, residual):
        return residual.abs().mean() < 0.5

    def forward(self, x):
        first = torch.tanh(x)
        return torch.where(self.hardly_changed(first - x), first + self.rest, torch.tanh(first * 2))


blocks = torch.compile(Blocks(), backend="eager")
for scale in (0.1, 1.0, 3.0):
    print(blocks(torch.full((4,), scale)).tolist())
