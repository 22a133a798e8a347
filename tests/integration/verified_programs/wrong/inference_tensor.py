"""What comes out of inference mode is no inference tensor.

An idea of our own.
kind: structure
stage: AOTAutograd
"""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    with torch.inference_mode():
        return x + 1  # cause


print(step(torch.ones(2)).is_inference())
