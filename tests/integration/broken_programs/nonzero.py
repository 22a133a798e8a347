"""The places of what is not zero.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS
"""

import torch


def model(x):
    y = x.relu()
    at = y.nonzero()  # cause
    return at.float().mean()


compiled = torch.compile(model, backend="aot_eager")
print(compiled(torch.tensor([1.0, 0.0, 2.0, 3.0])).item())
print(compiled(torch.tensor([1.0, 0.0, 2.0, 0.0])).item())
