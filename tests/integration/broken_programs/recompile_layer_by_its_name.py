"""Layers that look up what belongs to them under their own names.

kind: recompile limit
advice: isolate_recompiles

Made after a pattern common in vLLM (forward context by layer name).
"""

import torch

SCALES = {f"layers.{number}": 1.0 + number for number in range(10)}


class Attention(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return x * SCALES[self.name]  # cause


layers = [torch.compile(Attention(name), backend="eager") for name in SCALES]
x = torch.ones(2)
for _ in range(2):
    for layer in layers:
        x = layer(x).tanh()
print(x.tolist())
