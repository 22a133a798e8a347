import torch


@torch.compile(backend="eager")
def scores(x, mask=None):
    y = x * 3
    if mask is not None:
        y = torch.where(mask.any(), y.masked_fill(mask, -1.0), y)
    return y + 1


print(scores(torch.ones(3)).tolist())
for _ in range(3):
    print(scores(torch.ones(3), torch.tensor([True, False, True])).tolist())
