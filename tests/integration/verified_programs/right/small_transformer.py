"""A small transformer learns under Inductor."""

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
model = torch.compile(layer)
optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-3)
x = torch.randn(2, 5, 16)
for _ in range(2):
    optimizer.zero_grad()
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.2f}")
