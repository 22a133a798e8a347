"""An operator of the program's gives int32, and its function for tracing says int64: a cast is left out.

After https://github.com/pytorch/pytorch/issues/152002
kind: dtype
stage: AOTAutograd
"""

import torch

library = torch.library.Library("ranks_of", "DEF")
library.define("places(Tensor x) -> Tensor")
library.impl("places", lambda x: x.argsort(dim=-1).to(torch.int32), "CPU")
torch.library.register_fake(
    "ranks_of::places", lambda x: x.new_empty(x.shape, dtype=torch.int64), lib=library
)


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([3.0, 1.0, 2.0]))

    def ranked(self, x):
        scores = x * self.scale
        scores = scores - scores.mean(dim=-1, keepdim=True)
        places = torch.ops.ranks_of.places(scores)  # cause
        places = places + 1
        return places.long()

    def forward(self, x):
        y = torch.tanh(x)
        return self.ranked(y)


ranker = torch.compile(Ranker(), backend="aot_eager")
with torch.no_grad():
    print(ranker(torch.ones(2, 3)).dtype)
