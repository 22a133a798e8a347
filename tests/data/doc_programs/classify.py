"""Train a classifier of sensor windows: 200 windows of 64 values, three classes, batches of 32."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 32)
        self.head = nn.Linear(32, 3)

    def forward(self, windows):
        features = torch.relu(self.hidden(windows))
        print("features:", features.shape)
        return self.head(features)


torch.manual_seed(0)
model = torch.compile(Classifier())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
windows = torch.randn(200, 64)
labels = torch.randint(3, (200,))
for epoch in range(3):
    for batch, classes in zip(windows.split(32), labels.split(32), strict=True):
        loss = nn.functional.cross_entropy(model(batch), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
