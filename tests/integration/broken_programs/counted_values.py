"""How often each class occurs, with as many counts as the largest class asks for.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after a pattern common in metrics (torchmetrics, bincount).
"""

import torch


@torch.compile(backend="eager")
def frequencies(classes):
    counts = torch.bincount(classes)  # cause
    return counts / counts.sum()


for seed in range(3):
    torch.manual_seed(seed)
    print(frequencies(torch.randint(0, 4, (12,))).tolist())
