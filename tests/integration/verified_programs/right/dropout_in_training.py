"""Dropout between layers, trained under aot_eager: the numbers are eager's."""

import torch

torch.manual_seed(0)
layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
model = torch.compile(layers, backend="aot_eager")
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
x = torch.randn(16, 4)
for _ in range(4):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
