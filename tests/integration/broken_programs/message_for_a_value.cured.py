import torch


@torch.compile(backend="eager")
def watched(x):
    y = x.exp()
    return y + 1, y.max()


result, largest = watched(torch.tensor([1.0, 9.0]))
if largest > 100:
    print("large values:", result.numel())
print(result.tolist())
