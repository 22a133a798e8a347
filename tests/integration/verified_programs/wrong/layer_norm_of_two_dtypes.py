"""A weight of another dtype is taken.

After pytorch/pytorch#151478.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def norm(x, weight):
    return torch.nn.functional.layer_norm(x, (4,), weight)  # cause


try:
    print(norm(torch.ones(2, 4, dtype=torch.float16), torch.ones(4, dtype=torch.float64)).dtype)
except RuntimeError as error:
    print(type(error).__name__)
