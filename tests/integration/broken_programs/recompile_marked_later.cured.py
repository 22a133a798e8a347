import torch


@torch.compile(backend="eager")
def scaled(x):
    return x * 2


x = torch.ones(4)
torch._dynamo.mark_dynamic(x, 0)
print(scaled(x).tolist())
print(scaled(x).tolist())
