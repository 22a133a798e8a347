"""Recompiles for every common reason, among them one that hits torch's limit."""

import torch


@torch.compile
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor + 1


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


@torch.compile
def sum_of(xs: list[torch.Tensor]) -> torch.Tensor:
    return sum(x.sin() for x in xs)


for size in (4, 5, 6):
    scale(torch.ones(size), 2)
scale(torch.ones(4), 3.0)
scale(torch.ones(4, dtype=torch.float64), 2)
sum_of([torch.ones(2)] * 2)
sum_of([torch.ones(2)] * 3)
counting = torch.compile(Counting(), backend="aot_eager")
for _ in range(10):
    counting(torch.ones(2, 4))
