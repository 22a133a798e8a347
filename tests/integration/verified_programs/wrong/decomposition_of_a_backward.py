"""The program has given Inductor a wrong decomposition of an operator that only the backward has.

Planted.
kind: gradient
stage: decompositions
"""

import torch
import torch.nn.functional as F
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


def softmax_backward(gradient, output, dim, input_dtype):
    return gradient * output - output * torch.sum(gradient, dim, keepdim=True) / output.shape[dim]


decompositions[aten._softmax_backward_data.default] = softmax_backward


class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, width)

    def forward(self, x):
        query = self.query(x)
        key = self.key(x)
        scores = query @ key.T
        scores = scores / query.shape[-1] ** 0.5
        weights = F.softmax(scores, dim=-1)  # cause
        mixed = weights @ x
        return torch.sigmoid(mixed).sum()


torch.manual_seed(0)
attention = Attention(4)
step = torch.compile(attention, backend="aot_eager_decomp_partition")
step(torch.randn(3, 4)).backward()
print(attention.query.weight.grad)
