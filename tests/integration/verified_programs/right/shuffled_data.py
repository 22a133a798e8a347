"""Batches are shuffled by a loader."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.arange(12.0).reshape(6, 2)), batch_size=2, shuffle=True)
layer = torch.nn.Linear(2, 1)
model = torch.compile(layer, backend="aot_eager")
for _ in range(2):
    for (batch,) in loader:
        print(f"{model(batch).sum().item():.4f}")
