"""A setting that was missing in the first of several dictionaries is there now, before the default.

An idea of our own.
kind: value
stage: guards
"""

from collections import ChainMap

import torch


class Sampler(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.head = torch.nn.Linear(4, 4)

    def scaled(self, logits):
        limit = self.settings["limit"]
        logits = logits.clamp(-limit, limit)
        return logits / self.settings["temperature"]  # cause

    def forward(self, x):
        logits = self.head(x)
        logits = self.scaled(logits)
        return torch.softmax(logits, dim=-1)


defaults = {"temperature": 1.0, "limit": 50.0}
torch.manual_seed(0)
sampler = Sampler(ChainMap({}, defaults)).eval()
compiled = torch.compile(sampler, backend="eager")
x = torch.linspace(-2.0, 2.0, 8).reshape(2, 4)
with torch.no_grad():
    print(compiled(x))
    sampler.settings["temperature"] = 4.0
    print(compiled(x))
