import torch


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


torch._dynamo.reset()
for _ in range(4):
    print(doubled(torch.ones(4)).tolist())
