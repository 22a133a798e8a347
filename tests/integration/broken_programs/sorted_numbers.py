"""The numbers that a list holds are sorted, and are others in each call.

kind: graph break
advice: sort them before
"""

import torch


@torch.compile(backend="eager")
def scaled(x, numbers):
    y = x.sin()
    for number in sorted(numbers):  # cause
        y = y.cos() * number
    return y


for numbers in ([3, 2], [5, 4], [9, 7], [8, 6]):
    print(scaled(torch.ones(2), numbers).tolist())
