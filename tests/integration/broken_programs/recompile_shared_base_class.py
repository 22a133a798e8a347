"""Nine augmentations share the forward of their base class, each compiled by itself.

kind: recompile limit
advice: isolate_recompiles=True

Made after https://github.com/kornia/kornia/issues/4658
"""

import torch


class Augmentation(torch.nn.Module):
    def forward(self, x):
        return self.apply(x) * 2  # cause


def make(number):
    return type(f"Aug{number}", (Augmentation,), {"apply": lambda self, x: x + number})


for number in range(10):
    aug = torch.compile(make(number)(), backend="eager")
    print(aug(torch.ones(2)).tolist())
