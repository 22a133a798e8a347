"""A call of a function in C.

kind: graph break
advice: zlib.crc32
"""

import zlib

import torch


@torch.compile(backend="eager")
def keyed(x, name):
    y = x.sin()
    return y * (zlib.crc32(name) % 7)  # cause


print(keyed(torch.ones(2), b"name").tolist())
