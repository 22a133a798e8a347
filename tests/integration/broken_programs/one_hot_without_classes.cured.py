import torch
from torch.nn.functional import one_hot


@torch.compile(backend="eager")
def target(classes):
    hot = one_hot(classes, num_classes=4)
    return hot.float() * 0.9


for seed in range(3):
    torch.manual_seed(seed)
    print(target(torch.randint(0, 4, (12,))).sum().item())
