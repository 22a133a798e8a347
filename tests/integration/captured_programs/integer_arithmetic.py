"""Overflow, floor division and remainder of negative numbers, division by zero, shifts, type promotion."""

import torch


def arithmetic(a, b):
    return a + b, a * b, a // b, a % b, torch.fmod(a, b), a / b, a << 1, a ^ b, -a


def promoted(n, x):
    return n + 1, n + 1.5, n / 2, n * True, x + 1, x * n, n.sum(), n.float().mean(), 2**n, n.pow(2), 1 - x


for dtype in (torch.int8, torch.uint8, torch.int32, torch.int64):
    a, b = torch.tensor([100, 7, 3], dtype=dtype), torch.tensor([100, 2, 5], dtype=dtype)
    print(dtype, [t.tolist() for t in arithmetic(a, b)])
print([t.tolist() for t in arithmetic(torch.tensor([-7, 7]), torch.tensor([2, -2]))[2:6]])
for n in (torch.tensor([1, 2]), torch.tensor(3), torch.tensor([True, False])):
    for x in (
        torch.tensor(0.5),
        torch.tensor([0.5], dtype=torch.float16),
        torch.tensor(1.5, dtype=torch.float64),
    ):
        if n.dtype != torch.bool:
            print([(str(t.dtype)[6:], t.tolist()) for t in promoted(n, x)])
for divide in (lambda x: x // 0, lambda x: x % 0):
    try:
        print(divide(torch.tensor([1, 2])))
    except RuntimeError as error:
        print(type(error).__name__, error)
print(arithmetic(torch.tensor([2**62]), torch.tensor([2]))[1].item())
