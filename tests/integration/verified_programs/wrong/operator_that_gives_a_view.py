"""An operator of the program's gives a view of its argument, which its declaration denies.

After https://github.com/pytorch/pytorch/issues/137798
kind: mutation
stage: AOTAutograd
"""

import warnings

import torch

warnings.simplefilter("ignore")
library = torch.library.Library("first_rows", "DEF")
library.define("head(Tensor x) -> Tensor")
library.impl("head", lambda x: x[:1], "CPU")
torch.library.register_fake("first_rows::head", lambda x: x.new_empty(1, x.shape[1]), lib=library)


class Cache:
    def __init__(self, rows):
        self.rows = rows

    def fill(self, y):
        head = torch.ops.first_rows.head(self.rows)  # cause
        head.copy_(y.mean(dim=0, keepdim=True))
        return head


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.cache = Cache(torch.zeros(3, 2))

    def forward(self, x):
        y = self.inner(x)
        head = self.cache.fill(y)
        return y + head


torch.manual_seed(0)
attention = Attention().requires_grad_(False)
torch.compile(attention, backend="aot_eager")(torch.ones(2, 2))
print(attention.cache.rows.tolist())
