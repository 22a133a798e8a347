"""A print of an object, which torch cannot put off.

kind: graph break
advice: after the call
"""

import torch


class Settings:
    def __repr__(self):
        return "Settings()"


settings = Settings()


@torch.compile(backend="eager")
def shown(x):
    y = x.sin()
    print("with", settings)  # cause
    return y.cos()


print(shown(torch.ones(2)).tolist())
