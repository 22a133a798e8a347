"""What is written through a strided view of a view of an argument does not compile.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


def diagonal_of(square, size):
    return torch.as_strided(square, (size,), (size + 1,), 0)


class Masked(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.register_buffer("scores", torch.ones(2, size, size))

    def forward(self, x):
        scaled = self.scores * 2.0
        first = self.scores[0]
        diagonal = diagonal_of(first, self.size)
        diagonal.fill_(-1.0)  # cause
        return x @ (scaled[0] + self.scores[1])


masked = Masked(3)
try:
    torch.compile(masked, backend="aot_eager")(torch.ones(1, 3))
    print(masked.scores.tolist())
except RuntimeError:
    print("does not compile")
