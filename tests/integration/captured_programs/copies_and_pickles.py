"""Models that ran are copied, pickled, saved and loaded, and go on with the same numbers."""

import copy
import io
import pickle

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.norm(self.linear(x)).relu()


def train(model, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.arange(12.0).reshape(4, 3) ** 2 / 50).pow(3).sum().backward()
        optimizer.step()
    return optimizer


model = Net()
optimizer = train(model)
clones = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), Net()]
buffer = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
buffer.seek(0)
print(clones[2].load_state_dict(torch.load(buffer)["model"]))
for clone in (model, *clones):
    train(clone, 1)
    print(
        type(clone).__name__, clone.calls, clone.linear.weight.sum().item(), clone.norm.running_mean.tolist()
    )
print(sorted(vars(model)), type(model.forward).__name__)
