import zlib

import torch


@torch.compile(backend="eager")
def keyed(x, checksum):
    y = x.sin()
    return y * (checksum % 7)


print(keyed(torch.ones(2), zlib.crc32(b"name")).tolist())
