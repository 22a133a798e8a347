"""An operator of the user's that has no fake kernel.

origin: source
kind: exception
"""

import torch

library = torch.library.Library("repro_corpus", "DEF")
library.define("half(Tensor x) -> Tensor")
library.impl("half", lambda x: x / 2, "CPU")


@torch.compile(backend="eager", fullgraph=True)
def step(rows):
    rows = rows + 1
    return torch.ops.repro_corpus.half(rows) * 3


step(torch.ones(5))
