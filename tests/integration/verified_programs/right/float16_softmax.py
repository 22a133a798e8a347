"""A softmax in float16, which Inductor computes in float32."""

import torch

torch.manual_seed(0)


@torch.compile
def attend(scores, values):
    return torch.softmax(scores * 0.125, -1) @ values


print(attend(torch.randn(4, 16, 16).half() * 8, torch.randn(4, 16, 8).half()).dtype)
