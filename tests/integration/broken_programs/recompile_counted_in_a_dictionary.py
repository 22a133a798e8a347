"""How often each way of attention was taken is counted in a Counter.

kind: recompile
advice: move it out of the compiled code, behind the call

Made after a pattern common in libraries of kernels (calls counted by name).
"""

from collections import Counter

import torch
from torch import nn

TAKEN = Counter()


class Attention(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, causal):
        q, k, v = self.qkv(x).chunk(3, -1)
        TAKEN["causal" if causal else "full"] += 1  # cause
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


torch.manual_seed(0)
attention = torch.compile(Attention(), backend="eager")
with torch.no_grad():
    for _ in range(5):
        y = attention(torch.ones(1, 3, 4), True)
        print(round(y.sum().item(), 4), TAKEN["causal"])
