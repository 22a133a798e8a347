"""A dataclass says how long the longest prompt of a batch is.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after a pattern common in vLLM (attention metadata).
"""

from dataclasses import dataclass

import torch


@dataclass
class Metadata:
    longest: int


@torch.compile(backend="eager")
def attention(x, metadata):
    positions = torch.arange(metadata.longest)  # cause
    return (x[None] * positions[:, None]).sum()


for longest in (3, 4, 5, 6):
    print(attention(torch.ones(4), Metadata(longest)).item())
