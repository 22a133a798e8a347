"""A module that applies relu after cos: the smallest model there is."""

import torch


class MockModule(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = torch.nn.ReLU()

    def forward(self, x):
        return self.relu(torch.cos(x))


def main():
    torch.manual_seed(0)
    module = MockModule()
    y = module(torch.randn(10))
    print(f"sum {y.sum().item():.4f}, {int((y == 0).sum())} of {y.numel()} clipped")


if __name__ == "__main__":
    main()
