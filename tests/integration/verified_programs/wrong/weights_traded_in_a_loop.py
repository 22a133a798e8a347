"""Tensors of two lists are subtracted from each other in one call: the second does not see the first.

An idea of our own.
kind: mutation
stage: AOTAutograd
"""

import torch


class Trader:
    def __init__(self, rate):
        self.rate = rate

    def trade(self, ours, theirs):
        for _ in range(2):
            torch._foreach_mul_(ours, self.rate)
            torch._foreach_sub_(ours, theirs)  # cause
        return ours[0] + ours[1]


class Market(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("first", torch.tensor([4.0, 2.0]))
        self.register_buffer("second", torch.tensor([1.0, 3.0]))
        self.trader = Trader(0.5)

    def forward(self, x):
        y = torch.sigmoid(x)
        total = self.trader.trade([self.first, self.second], [self.second, self.first])
        return total * y


market = Market()
torch.compile(market, backend="aot_eager")(torch.ones(2))
print(market.first.tolist(), market.second.tolist())
