"""Modules with own __getattr__, __setattr__ and __call__, super().forward and direct forward calls."""

import torch
from torch import nn

torch.manual_seed(0)
log = []


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def __setattr__(self, name, value):
        log.append(name)
        super().__setattr__(name, value)

    def forward(self, *args, **kwargs):
        self.last_count = len(args) + len(kwargs)
        return self.inner(*args, **kwargs)


class Scaled(nn.Linear):
    def __call__(self, *args, **kwargs):
        log.append("call")
        return super().__call__(*args, **kwargs)

    def forward(self, x, scale=1.0):
        return super().forward(x) * scale


model = Wrapper(Scaled(3, 2))
model.inner.register_forward_pre_hook(lambda m, a, k: (a, {**k, "scale": 2.0}), with_kwargs=True)
x = torch.ones(1, 3)
print(model(x).tolist(), model(x, scale=5.0).tolist(), model.in_features, model.last_count)
print(
    model.forward(x).tolist(),
    model.inner.forward(x, scale=3.0).tolist(),
    nn.Linear.forward(model.inner, x).tolist(),
)
model.apply(lambda m: log.append(type(m).__name__))
print(log)
try:
    model.missing_name  # noqa: B018
except AttributeError as error:
    print(type(error).__name__, error)
