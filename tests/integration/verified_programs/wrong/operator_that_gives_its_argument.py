"""An operator of the program's gives back its argument itself, which its declaration denies.

After https://github.com/pytorch/pytorch/issues/137798
kind: value
stage: AOTAutograd
"""

import warnings

import torch

warnings.simplefilter("ignore")
library = torch.library.Library("pass_through", "DEF")
library.define("checked(Tensor x) -> Tensor")
library.impl("checked", lambda x: x, "CPU")
torch.library.register_fake("pass_through::checked", torch.empty_like, lib=library)


def rescaled(x, factor):
    """Scales in place."""
    return x.mul_(factor)


class Stage(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        hidden = x - 1.0
        seen = torch.ops.pass_through.checked(hidden)  # cause
        rescaled(seen, self.factor)
        return hidden + seen.mean()


stage = torch.compile(Stage(3.0), backend="aot_eager")
print(stage(torch.arange(4.0)).tolist())
