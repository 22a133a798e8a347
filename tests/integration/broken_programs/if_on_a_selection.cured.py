import torch


@torch.compile(backend="eager")
def means(x, kind):
    out = x.sum(0)
    for k in range(3):
        mask = kind == k
        mean = (x * mask[:, None]).sum(0) / mask.sum()
        out = out + torch.where(mask.any(), mean, 0.0)
    return out


print(means(torch.arange(8.0).reshape(4, 2), torch.tensor([0, 2, 2, 0])).tolist())
