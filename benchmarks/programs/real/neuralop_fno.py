"""neuraloperator: an FNO trained for four steps."""

import torch
from neuralop.models import FNO

torch.manual_seed(0)
model = FNO(n_modes=(8, 8), hidden_channels=16, in_channels=1, out_channels=1, n_layers=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = torch.randn(4, 1, 16, 16), torch.randn(4, 1, 16, 16)
for step in range(4):
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.3f}")
