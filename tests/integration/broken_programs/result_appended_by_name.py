"""A step that is compiled logs its loss to a list, which it finds by name.

kind: graph break
advice: out of the compiled code

Made after https://github.com/Lightning-AI/pytorch-lightning/issues/18835
"""

import torch


class Log:
    def __init__(self):
        self.values = {"loss": []}

    def add(self, name, value):
        self.values[name].append(value.detach().item())  # cause


log = Log()


@torch.compile(backend="eager")
def step(x):
    loss = (x * x).mean()
    log.add("loss", loss)
    return loss * 2


for scale in range(5):
    print(step(torch.full((4,), float(scale))).item())
print(log.values)
