"""A function that is put into the graph as it is reads a setting: what AOTAutograd made has the first call's.

An idea of our own, after PyTorch's page on torch.compiler.allow_in_graph.
kind: value
stage: guards
"""

import torch


class Settings:
    gain = 1.0
    floor = -10.0


settings = Settings()


@torch.compiler.allow_in_graph
def amplified(x):
    x = x.clamp(min=settings.floor)
    return x * settings.gain  # cause


class Amplifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = 0.5

    def forward(self, x):
        x = x + self.offset
        x = amplified(x)
        return x.sum(dim=0)


amplifier = torch.compile(Amplifier(), backend="aot_eager")
x = torch.arange(4.0).reshape(2, 2)
print(amplifier(x))
settings.gain = 3.0
print(amplifier(x))
