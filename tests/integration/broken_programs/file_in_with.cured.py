import os

import torch


@torch.compile(backend="eager")
def scaled(x, text):
    y = x.sin()
    return y * (1 + len(text))


with open(os.devnull) as file:
    text = file.read()
print(scaled(torch.ones(2), text).tolist())
