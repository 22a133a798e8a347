import torch


class Normalize(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.full((3,), 0.5)

    def forward(self, x):
        if self.mean is None:
            self.mean = torch.full((3,), 0.5)
        return x - self.mean


normalize = torch.compile(Normalize(), backend="eager")
for _ in range(3):
    print(normalize(torch.ones(3)).tolist())
