"""A class that counts the calls of all its objects.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after a pattern common in training loops of one's own.
"""

import torch


class Layer(torch.nn.Module):
    calls = 0

    def forward(self, x):
        Layer.calls += 1  # cause
        return x.sin()


layer = torch.compile(Layer(), backend="eager")
for _ in range(12):
    layer(torch.ones(2))
print(Layer.calls)
