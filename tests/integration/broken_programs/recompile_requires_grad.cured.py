import torch


@torch.compile(backend="eager")
def doubled(x):
    return (x * 2).sum()


for needs in (False, True):
    print(doubled(torch.ones(4, requires_grad=needs).requires_grad_()).item())
