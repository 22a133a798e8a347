import torch


@torch.compile(backend="eager")
def leaf(x):
    y = x.sin().detach()
    return y * 2


print(leaf(torch.ones(2)).requires_grad_().tolist())
