"""Another error than eager's is raised.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


@torch.compile(backend="aot_eager_decomp_partition")
def loss(x, target):
    return torch.nn.functional.nll_loss(x, target)  # cause


try:
    print(loss(torch.ones(2, 3), torch.tensor([0, -1])))
except Exception as error:
    print(type(error).__name__)
