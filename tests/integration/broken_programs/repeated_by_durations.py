"""Each phoneme is repeated for as many frames as it lasts.

kind: graph break
advice: output_size

Made after a pattern common in speech synthesis (length regulators).
"""

import torch


@torch.compile(backend="eager")
def regulated(x, durations):
    frames = torch.repeat_interleave(x, durations, dim=0)  # cause
    return frames.sin()


for durations in ((1, 2, 3), (2, 2, 2), (3, 1, 2)):
    print(round(regulated(torch.arange(3.0), torch.tensor(durations)).sum().item(), 4))
