"""The program promises that guards hold and need not be evaluated, and then changes a setting.

After PyTorch's page on the stance `skip_guard_eval_unsafe`.
kind: value
stage: guards
"""

import torch


class Config:
    def __init__(self):
        self.gain = 2.0
        self.bias = 0.5


class Adapter:
    def __init__(self, config):
        self.config = config

    def __call__(self, x):
        y = x * self.config.gain  # cause
        return y + self.config.bias


class Model(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.adapter = Adapter(config)

    def forward(self, x):
        x = torch.sigmoid(self.inner(x))
        x = self.adapter(x)
        return x.mean(dim=-1)


torch.manual_seed(0)
config = Config()
model = torch.compile(Model(config), backend="eager")
x = torch.ones(2, 3)
print(model(x).tolist())
with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
    print(model(x).tolist())
    config.gain = 8.0
    print(model(x).tolist())
