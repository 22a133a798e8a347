"""Positional encodings that are kept by the size that they are for.

kind: recompile limit
advice: decide by the size of `x`

Made after a pattern common in diffusers and ComfyUI (positional encodings).
"""

import torch


class Encoding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        length = x.shape[0]
        if length not in self.known:  # cause
            self.known[length] = torch.arange(length).float().sin()
        return x + self.known[length]


encoding = Encoding()
compiled = torch.compile(encoding, backend="eager")
for length in range(3, 15):
    print(round(compiled(torch.ones(length)).sum().item(), 4))
