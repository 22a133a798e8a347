"""A trainer compiles the parts of a model, and drops what torch.compile returns.

kind: never called
advice: model.compile()

Made after a pattern common in threads that say that torch.compile has no effect.
"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.backbone(x)).squeeze(-1)


class Trainer:
    def __init__(self, model, *, lr=0.05, compile=True):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.loss = nn.MSELoss()
        if compile:
            self.setup_compile()

    def setup_compile(self):
        for name, module in self.model.named_children():
            module.compile(backend="aot_eager")
            print("compiled", name)

    def run_epoch(self, batches):
        total = 0.0
        for x, y in batches:
            loss = self.loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(batches)

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            print(f"epoch {epoch}: {self.run_epoch(batches):.4f}")


torch.manual_seed(0)
batches = [(torch.randn(8, 4), torch.randn(8)) for _ in range(3)]
Trainer(Model()).fit(batches, epochs=3)
