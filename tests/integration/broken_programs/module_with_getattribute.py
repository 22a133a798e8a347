"""A module whose class defines `__getattribute__`.

kind: graph break
advice: __getattribute__
"""

import torch


class Proxy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def forward(self, x):
        return self.inner(x)


proxy = Proxy()


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return proxy.inner(y)  # cause


torch.manual_seed(0)
torch.nn.init.ones_(proxy.inner.weight)
torch.nn.init.ones_(proxy.inner.bias)
print(model(torch.ones(2)).tolist())
