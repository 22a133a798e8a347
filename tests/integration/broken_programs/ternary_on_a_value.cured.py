import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(x)
        scale = torch.where(y.mean() > 0, y * 2, y / 2)
        return scale.relu()


torch.manual_seed(0)
model = torch.compile(Gate(), backend="eager")
for _ in range(3):
    print(model(torch.randn(2, 4)).sum().item())
