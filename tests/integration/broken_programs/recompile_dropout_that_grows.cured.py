import torch
import torch.nn.functional as F
from torch import nn


class Dropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("p", torch.zeros(()))

    def forward(self, x):
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = Dropout()

    def forward(self, x):
        return x + self.dropout(F.relu(self.linear(x)))


class Net(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def set_dropout(self, rate):
        for module in self.modules():
            if isinstance(module, Dropout):
                module.p.fill_(rate)


def main():
    torch.manual_seed(0)
    model = Net()
    compiled = torch.compile(model, backend="eager")
    epochs = 6
    for epoch in range(epochs):
        model.set_dropout(0.5 * epoch / epochs)
        for _ in range(3):
            out = compiled(torch.randn(32, 16))
        print(epoch, tuple(out.shape))


main()
