import random

import torch


class Choice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x, layer):
        x = x.relu()
        return layer(x)


torch.manual_seed(0)
random.seed(0)
choice = Choice()
model = torch.compile(choice, backend="eager")
for _ in range(4):
    print(model(torch.ones(4), choice.layers[random.randrange(3)]).sum().item())
