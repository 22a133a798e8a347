"""The program ends by its own exception out of forward, chained to one of torch."""

import torch
from torch import nn

torch.manual_seed(0)


class BadBatch(Exception):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, batch):
        try:
            return self.linear(batch["x"])
        except KeyError as error:
            raise BadBatch(f"no {error.args[0]} in {sorted(batch)}") from error


model = Net()
print(model({"x": torch.ones(1, 3)}).tolist())
print(model({"y": torch.ones(1, 3)}).tolist())
