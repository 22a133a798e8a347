"""A batch whose loss is not finite is counted, and gives a loss of 0: cured."""

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.skipped = 0
        self.loss_fn = nn.SmoothL1Loss()
        self.compiled_loss = torch.compile(self.loss, backend="eager")

    def loss(self, x, y):
        out = self.model(x)
        loss = self.loss_fn(out, y) + 1e-3 * out.pow(2).mean()
        is_finite = torch.isfinite(loss)
        return torch.where(is_finite, loss, torch.zeros_like(loss)) * 2.0, is_finite

    def fit(self, batches):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        for i, (x, y) in enumerate(batches):
            loss, is_finite = self.compiled_loss(x, y)
            if not is_finite:
                self.skipped += 1
            elif loss.requires_grad:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(i, f"{loss.item():.4f}", self.skipped)


torch.manual_seed(0)
batches = [(torch.randn(8, 6), torch.randn(8, 2)) for _ in range(6)]
batches[3][0][0, 0] = float("inf")
Trainer(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))).fit(batches)
