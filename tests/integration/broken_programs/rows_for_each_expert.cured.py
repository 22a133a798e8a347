import torch
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            mask = chosen == number
            out = torch.where(mask[:, None], expert(x) * 2, out)
        return out


torch.manual_seed(0)
model = torch.compile(Router(), backend="eager")
for _ in range(3):
    print(round(model(torch.randn(6, 8)).sum().item(), 3))
