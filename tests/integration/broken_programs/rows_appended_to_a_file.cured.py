"""A row is appended to a file inside.

kind: fell back to eager
advice: write the file after the call

Made after https://github.com/Lightning-AI/pytorch-lightning/issues/17214
"""

import os

import torch


@torch.compile(backend="eager")
def errors(x):
    hidden = torch.tanh(x)
    return (hidden - x).pow(2).mean(-1)


for number in range(3):
    found = errors(torch.full((2, 3), float(number)))
    with open(os.devnull, "a") as stream:
        stream.write("one batch\n")
    print([round(each, 4) for each in found.tolist()])
