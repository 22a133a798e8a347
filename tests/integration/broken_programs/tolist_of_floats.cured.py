import torch


@torch.compile(backend="eager")
def scaled(x, scales):
    y = x * 2
    first, second = scales.unbind()
    return y * first + second


print(scaled(torch.arange(3.0), torch.tensor([0.5, 0.25])).tolist())
