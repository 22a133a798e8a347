"""A module called with batches and sequences of different sizes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)

    def forward(self, tokens):
        return self.embedding(tokens).mean(1)  # cause


torch.manual_seed(0)
encoder = torch.compile(Encoder(), backend="eager")
for batch, length in ((2, 3), (4, 3), (4, 7), (5, 9)):
    print(encoder(torch.ones(batch, length, dtype=torch.long)).sum().item())
