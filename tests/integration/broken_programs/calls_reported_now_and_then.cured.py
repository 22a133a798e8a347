import torch
from torch import nn


class Watched(nn.Module):
    def __init__(self, width, log_every=3):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.log_every = log_every
        self.calls = 0

    def forward(self, x):
        return torch.relu(self.linear(x))


def main():
    torch.manual_seed(0)
    layer = Watched(6)
    compiled = torch.compile(layer, backend="eager")
    with torch.no_grad():
        for _ in range(12):
            x = torch.randn(4, 6)
            out = compiled(x)
            layer.calls += 1
            if layer.calls % layer.log_every == 0:
                print(f"call {layer.calls}: mean {x.mean():.3f}")
    print(layer.calls, tuple(out.shape))


main()
