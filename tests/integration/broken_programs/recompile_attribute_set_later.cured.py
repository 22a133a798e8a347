import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.tensor(2.0)

    def forward(self, x):
        if not hasattr(self, "scale"):
            self.scale = torch.tensor(2.0)
        return x * self.scale


model = torch.compile(Model(), backend="eager")
for _ in range(3):
    print(model(torch.ones(2)).tolist())
