"""Compiled code ends in an exception, which the program catches.

kind: fell back to eager
advice: exception
"""

import torch


class Found(Exception):
    pass


@torch.compile(backend="eager")
def search(x):
    y = x.sin()
    raise Found("at once")  # cause


for _ in range(2):
    try:
        search(torch.ones(2))
    except Found as found:
        print(found)
