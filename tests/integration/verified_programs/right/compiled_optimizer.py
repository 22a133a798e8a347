"""The optimizer's step is compiled as well."""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)


@torch.compile(backend="aot_eager")
def update():
    optimizer.step()


x = torch.randn(5, 3)
for _ in range(4):
    optimizer.zero_grad()
    loss = layer(x).square().mean()
    loss.backward()
    update()
    print(f"{loss.item():.4f}")
