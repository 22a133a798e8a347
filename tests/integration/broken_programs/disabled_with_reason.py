"""The same, by `torch._dynamo.disable` and with a reason.

kind: graph break
advice: disable
"""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = self.helper(x.sin())  # cause
        return y.cos()

    @torch._dynamo.disable(reason="it was slow once")
    def helper(self, x):
        return x + 1


print(torch.compile(Model(), backend="eager")(torch.ones(2)).tolist())
