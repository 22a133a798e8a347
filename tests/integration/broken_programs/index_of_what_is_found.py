"""A scheduler finds the index of a time by comparing all of them.

kind: graph break
advice: TORCHDYNAMO_CAPTURE

Made after https://github.com/huggingface/diffusers/issues/3950
"""

import torch

TIMES = torch.linspace(999, 0, 20)
SIGMAS = torch.linspace(14, 0, 20)


@torch.compile(backend="eager")
def scaled(sample, time):
    index = (TIMES == time).nonzero().item()  # cause
    return sample / (SIGMAS[index] ** 2 + 1) ** 0.5


for time in TIMES[:3]:
    print(round(scaled(torch.ones(2), time).sum().item(), 3))
