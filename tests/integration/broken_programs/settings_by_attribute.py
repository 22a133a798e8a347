"""Settings whose class finds each of them by its name as an attribute.

kind: fell back to eager
advice: self.__dict__['name']
source: https://github.com/pytorch/pytorch/issues/138224
"""

import torch


class Settings:
    def __init__(self, content):
        object.__setattr__(self, "_content", content)

    def __getattr__(self, name):
        content = object.__getattribute__(self, "_content")  # cause
        if name not in content:
            raise AttributeError(name)
        return content[name]


@torch.compile(backend="eager")
def refine(x, settings):
    for _ in range(settings.steps):
        x = x * settings.rate + x.sin()
    return x


settings = Settings({"steps": 3, "rate": 0.5})
for _ in range(3):
    print(round(refine(torch.ones(4), settings).sum().item(), 4))
