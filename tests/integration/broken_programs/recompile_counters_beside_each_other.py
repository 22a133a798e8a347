"""Two metrics of one module count their updates, each by itself.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/meta-pytorch/torchrec/pull/4338
"""

import torch


class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.updates = 3
        self.register_buffer("total", torch.zeros(()))

    def forward(self, error):
        self.updates += 1  # cause
        self.total = self.total + error.mean()
        return self.total / self.updates


class Evaluator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
        self.squared, self.absolute = Metric(), Metric()

    def forward(self, x, y):
        error = self.linear(x) - y
        return self.squared(error.square()) + self.absolute(error.abs())


torch.manual_seed(0)
evaluate = torch.compile(Evaluator())
with torch.no_grad():
    for step in range(12):
        x = torch.randn(8, 4)
        print(step, round(evaluate(x, x.sum(1, keepdim=True)).item(), 3))
