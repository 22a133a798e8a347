import torch


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.total = torch.tensor(0.0)

    def forward(self, x):
        y = self.layer(x).sin()
        self.total = self.total + y.max().detach()
        return y * 2


torch.manual_seed(0)
module = Counts()
counts = torch.compile(module, backend="aot_eager")
for number in range(12):
    counts(torch.full((4,), float(number))).sum().backward()
print(round(float(module.total), 3), round(module.layer.weight.grad.sum().item(), 3))
