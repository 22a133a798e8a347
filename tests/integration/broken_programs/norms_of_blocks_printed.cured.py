import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, name):
        super().__init__()
        self.name = name
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        x = torch.relu(self.linear(x)) + x
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(8, "first")
        self.second = Block(8, "second")

    def forward(self, x):
        first = self.first(x)
        second = self.second(first)
        return second.mean(), first.norm(), second.norm()


torch.manual_seed(0)
net = torch.compile(Net().eval(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        out, first, second = net(torch.ones(2, 8))
        print("first shows", first)
        print("second shows", second)
        print(round(out.item(), 4))
