"""The cause is three calls deep.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


def deepest(x):
    x = x * 2
    return x / x.max().item()  # cause


def deeper(x):
    return deepest(x.sin()) + 1


class Model(torch.nn.Module):
    def forward(self, x):
        return deeper(x).cos()


print(torch.compile(Model(), backend="eager")(torch.ones(3)).tolist())
