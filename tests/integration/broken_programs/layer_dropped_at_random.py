"""Layers that are left out at random in training.

kind: fell back to eager
advice: torch.where

Made after a pattern common in Hugging Face transformers (LayerDrop).
"""

import torch


@torch.compile(backend="eager")
def encoder(x, dropped):
    for layer in range(3):
        if torch.rand([]) < dropped:  # cause
            continue
        x = (x + layer).sin()
    return x


torch.manual_seed(0)
for _ in range(3):
    print(encoder(torch.ones(2), 0.5).tolist())
