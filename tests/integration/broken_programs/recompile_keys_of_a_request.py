"""Conditions that differ from request to request, each with a layer of its own.

kind: recompile
advice: the same keys
"""

import torch


class Conditioned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleDict({name: torch.nn.Linear(4, 4) for name in ("text", "pose", "depth")})

    def forward(self, x, conditions):
        for name, value in conditions.items():  # cause
            x = x + self.layers[name](value)
        return x


torch.manual_seed(0)
model = Conditioned().eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for names in (("text", "pose"), ("text", "depth"), ("pose", "depth"), ("depth", "text")):
        print(f"{compiled(torch.ones(2, 4), {name: torch.ones(2, 4) for name in names}).sum().item():.4f}")
