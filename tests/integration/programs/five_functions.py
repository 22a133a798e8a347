"""Five functions, each compiled for itself, into which test_seeded_regressions.py puts regressions."""

import torch
from torch import nn

LIMIT = 2.0


def normalized(x: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    spread = x.std(-1, keepdim=True)
    return (x - mean) / spread


def pooled(x: torch.Tensor) -> torch.Tensor:
    total = x.sum(0)
    return total.tanh() + total.cos()


def attended(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    scores = (x @ weight) @ x.transpose(-1, -2)
    scores = scores / 8
    shares = torch.softmax(scores, -1)
    return shares @ x


def clipped(x: torch.Tensor, low: float) -> torch.Tensor:
    y = x.clamp(min=low)
    return y.relu()


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 2.0
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        y = y * self.scale
        return x + self.second(y)


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 8)
    normalize = torch.compile(normalized, backend="eager")
    normalize(x)
    pool = torch.compile(pooled, backend="eager", dynamic=True)
    for size in (4, 5, 6):
        pool(torch.randn(size, 8))
    attend = torch.compile(attended, backend="aot_eager")
    weight = torch.randn(8, 8, requires_grad=True)
    with torch.no_grad():
        attend(x, weight)
    clip = torch.compile(clipped, backend="eager")
    for _ in range(2):
        clip(x, 0.5)
    block = torch.compile(Block(), backend="aot_eager")
    for _ in range(2):
        block(x).square().mean().backward()


main()
