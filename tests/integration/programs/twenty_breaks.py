"""Twenty graph breaks, each crossed as often as the function is called."""

import torch

CALLS = 4


@torch.compile(backend="aot_eager")
def chatty(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    print(1, end=" ")
    x = x + 1
    print(2, end=" ")
    x = x + 1
    print(3, end=" ")
    x = x + 1
    print(4, end=" ")
    x = x + 1
    print(5, end=" ")
    x = x + 1
    print(6, end=" ")
    x = x + 1
    print(7, end=" ")
    x = x + 1
    print(8, end=" ")
    x = x + 1
    print(9, end=" ")
    x = x + 1
    print(10, end=" ")
    x = x + 1
    print(11, end=" ")
    x = x + 1
    print(12, end=" ")
    x = x + 1
    print(13, end=" ")
    x = x + 1
    print(14, end=" ")
    x = x + 1
    print(15, end=" ")
    x = x + 1
    print(16, end=" ")
    x = x + 1
    print(17, end=" ")
    x = x + 1
    print(18, end=" ")
    x = x + 1
    print(19, end=" ")
    x = x + 1
    print(20, end=" ")
    return x + 1


for _ in range(CALLS):
    chatty(torch.ones(8))
