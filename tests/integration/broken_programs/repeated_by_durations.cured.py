import torch


@torch.compile(backend="eager")
def regulated(x, durations, frames):
    return torch.repeat_interleave(x, durations, dim=0, output_size=frames).sin()


for durations in ((1, 2, 3), (2, 2, 2), (3, 1, 2)):
    out = regulated(torch.arange(3.0), torch.tensor(durations), sum(durations))
    print(round(out.sum().item(), 4))
