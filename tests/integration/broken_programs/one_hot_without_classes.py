"""One-hot vectors for as many classes as the largest index asks for.

kind: graph break
advice: num_classes

Made after a pattern common in classification and tabular models.
"""

import torch
from torch.nn.functional import one_hot


@torch.compile(backend="eager")
def target(classes):
    hot = one_hot(classes)  # cause
    return hot.float() * 0.9


for seed in range(3):
    torch.manual_seed(seed)
    print(target(torch.randint(0, 4, (12,))).sum().item())
