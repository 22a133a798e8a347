import torch
from torch import nn


def normalised(values):
    return nn.functional.layer_norm(values, values.shape[-1:])


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, values):
        return values + self.narrow(self.wide(normalised(values)).relu())


torch.manual_seed(0)
model = torch.compile(Layer(4), backend="eager")
print(model(torch.ones(2, 4).cumsum(1)).sum().item())
