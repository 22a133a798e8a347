"""They are compiled together, in a module of the program's own."""

import torch


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.to_hidden = torch.nn.Linear(4, 8)
        self.to_output = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.to_output(self.to_hidden(x))


torch.manual_seed(0)
model = torch.compile(Both(), backend="eager")

for value in range(3):
    x = torch.full((1, 4), float(value))
    print(model(x).tolist())
