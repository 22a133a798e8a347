"""A small network of convolutions learns under Inductor."""

import torch

torch.manual_seed(0)
layers = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3, padding=1),
    torch.nn.BatchNorm2d(4),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(64, 3),
)
model = torch.compile(layers)
optimizer = torch.optim.SGD(layers.parameters(), lr=0.05, momentum=0.9)
x, target = torch.randn(6, 1, 8, 8), torch.arange(6) % 3
for _ in range(2):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.2f}")
