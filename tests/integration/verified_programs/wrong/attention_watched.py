"""A hook on an output, from which another output was made, is given no gradient.

After reports that hooks on what a compiled function gives are not called with what they should get.
kind: gradient
stage: AOTAutograd
"""

import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(4, 4)
        self.key = torch.nn.Linear(4, 4)

    def weights(self, x):
        scores = self.query(x) @ self.key(x).T
        return torch.softmax(scores / 2.0, dim=-1)  # cause

    def forward(self, x):
        weights = self.weights(x)
        mixed = weights @ x
        return {"mixed": mixed.square().mean(), "weights": weights}


torch.manual_seed(0)
attention = torch.compile(Attention(), backend="aot_eager")
result = attention(torch.linspace(-1.0, 1.0, 12).reshape(3, 4))
seen = []
result["weights"].register_hook(lambda gradient: seen.append(gradient))
result["mixed"].backward()
print(seen)
