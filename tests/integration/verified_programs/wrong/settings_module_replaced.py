"""A module that the function imports from is another one now.

An idea of our own, after reports of importlib.reload under torch.compile.
kind: value
stage: guards
"""

import sys
import types

import torch


def install(temperature):
    module = types.ModuleType("sampling_settings")
    module.temperature = temperature
    sys.modules["sampling_settings"] = module


class Sampler(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 5)
        self.offset = 0.25

    def scaled(self, logits):
        from sampling_settings import temperature  # cause

        return logits / temperature

    def forward(self, x):
        logits = self.head(x) + self.offset
        logits = self.scaled(logits)
        logits = logits - logits.amax(dim=-1, keepdim=True)
        return logits.softmax(dim=-1)


torch.manual_seed(0)
sampler = torch.compile(Sampler(), backend="eager")
x = torch.ones(1, 4)
install(1.0)
print(sampler(x).tolist())
install(4.0)
print(sampler(x).tolist())
