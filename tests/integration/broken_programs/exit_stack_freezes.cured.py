import contextlib

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width, frozen):
        super().__init__()
        self.stem = nn.Linear(width, width)
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.frozen = frozen

    def forward(self, x):
        with torch.no_grad() if self.frozen else contextlib.nullcontext():
            x = self.stem(x)
            x = self.body(x)
        return x


class Classifier(nn.Module):
    def __init__(self, width=8, classes=3):
        super().__init__()
        self.backbone = Backbone(width, frozen=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.backbone(x).tanh())


torch.manual_seed(0)
model = Classifier()
step = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(3):
    x, y = torch.randn(6, 8), torch.randint(0, 3, (6,))
    loss = nn.functional.cross_entropy(step(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(number, round(loss.item(), 4), model.backbone.stem.weight.grad is None)
