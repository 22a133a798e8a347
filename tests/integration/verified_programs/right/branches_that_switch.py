"""What the function does changes between calls, and torch guards it."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x * self.scale)
        return x if self.training else x.detach() + 1


model = Model()
step = torch.compile(model, backend="eager")
print(step(torch.ones(2)))
model.scale = 0.5
print(step(torch.ones(2)))
model.layers[0], model.layers[1] = model.layers[1], model.layers[0]
print(step(torch.ones(2)))
model.eval()
print(step(torch.ones(2)))
