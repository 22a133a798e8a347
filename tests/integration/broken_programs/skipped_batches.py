"""A batch whose loss is not finite is counted, and gives a loss of 0.

kind: graph break
advice: after the call of `loss`

Made after a pattern common in threads on losses that are not finite.
"""

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
        if not torch.isfinite(loss):  # cause
            self.skipped += 1
            loss = torch.zeros_like(loss)
        return loss * 2.0

    def fit(self, batches):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        for i, (x, y) in enumerate(batches):
            loss = self.compiled_loss(x, y)
            if loss.requires_grad:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(i, f"{loss.item():.4f}", self.skipped)


torch.manual_seed(0)
batches = [(torch.randn(8, 6), torch.randn(8, 2)) for _ in range(6)]
batches[3][0][0, 0] = float("inf")
Trainer(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))).fit(batches)
