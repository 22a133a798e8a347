"""A sampler looks up where the time step stands in its schedule.

kind: graph break
advice: look up

Made after https://github.com/huggingface/diffusers/issues/9417
"""

import torch

SIGMAS = torch.tensor([1.0, 0.7, 0.4, 0.1, 0.0])
TIMES = SIGMAS[:-1] * 1000


def index_for(time):
    found = (TIMES == time).nonzero()
    pos = 1 if len(found) > 1 else 0
    return found[pos].item()


@torch.compile(backend="eager")
def denoise(sample, time, index):
    return sample + (SIGMAS[index + 1] - SIGMAS[index]) * torch.tanh(sample * time / 1000)


torch.manual_seed(0)
sample = torch.randn(2, 3)
for time in TIMES:
    sample = denoise(sample, time, torch.tensor([index_for(time)]))
    print(round(sample.sum().item(), 4))
