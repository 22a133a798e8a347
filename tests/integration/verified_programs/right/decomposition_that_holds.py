"""A decomposition of the program's own says the same in other words, also in the backward."""

import torch
import torch.nn.functional as F
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


def softmax_backward(gradient, output, dim, input_dtype):
    weighted = torch.sum(gradient * output, dim, keepdim=True)
    return output * (gradient - weighted)


decompositions[aten._softmax_backward_data.default] = softmax_backward


class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, width)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).T
        weights = F.softmax(scores / 2.0, dim=-1)
        return torch.sigmoid(weights @ x).sum()


torch.manual_seed(0)
attention = Attention(4)
torch.compile(attention)(torch.randn(3, 4)).backward()
print(attention.query.weight.grad.abs().sum() > 0)
