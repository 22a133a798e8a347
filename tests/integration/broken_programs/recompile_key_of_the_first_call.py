"""A value is logged under a name that the first call puts into the dictionary.

kind: recompile
advice: before the first call

Made after https://github.com/Lightning-AI/pytorch-lightning/pull/21837
"""

import inspect

import torch


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
        self.logged = {}

    def log(self, name, value):
        names = inspect.getfullargspec(self.training_step).args
        self.logged[name] = (value.detach(), "batch_idx" in names)  # cause

    def training_step(self, batch, batch_idx):
        return self(batch, batch_idx)

    def forward(self, batch, batch_idx):
        loss = self.layer(batch).square().sum()
        self.log("train_loss", loss)
        return loss


torch.manual_seed(0)
module = Module()
step = torch.compile(module, backend="eager")
optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
for index in range(3):
    loss = step(torch.ones(4, 8), index)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(round(module.logged["train_loss"][0].item(), 4))
