"""The function asks whether it runs in inference mode.

kind: graph break
advice: pass the answer in
"""

import torch


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    if torch.is_inference_mode_enabled():  # cause
        y = y * 2
    return y.cos()


for _ in range(3):
    print(scaled(torch.ones(2)).tolist())
