"""FlexAttention with a causal mask, forward and backward."""

import os

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

device = os.environ["DEVICE"]


def causal(batch, head, query, key):
    return query >= key


mask = create_block_mask(causal, None, None, 256, 256, device=device)
attend = torch.compile(flex_attention)
torch.manual_seed(0)
trains = device == "cuda"  # no backward on the CPU
inputs = [torch.randn(1, 2, 256, 64, device=device, requires_grad=trains) for _ in range(3)]
for _ in range(4):
    out = attend(*inputs, block_mask=mask)
    if trains:
        out.sum().backward()
print(tuple(out.shape))
