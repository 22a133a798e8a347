"""An observer for quantisation is switched by a buffer.

kind: graph break
advice: Python

Made after a pattern of torch.ao (FakeQuantize).
"""

import torch
import torch.nn.functional as F
from torch import nn


class MovingObserver(nn.Module):
    def __init__(self, averaging=0.1):
        super().__init__()
        self.averaging = averaging
        self.register_buffer("low", torch.tensor(0.0))
        self.register_buffer("high", torch.tensor(1.0))

    def forward(self, x):
        self.low.lerp_(x.detach().amin(), self.averaging)
        self.high.lerp_(x.detach().amax(), self.averaging)

    def qparams(self):
        scale = (self.high - self.low).clamp(min=1e-6) / 255
        return scale, (-self.low / scale).round().clamp(0, 255)


class FakeQuantize(nn.Module):
    def __init__(self):
        super().__init__()
        self.observer = MovingObserver()
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))

    def forward(self, x):
        if self.observer_enabled[0] == 1:  # cause
            self.observer(x)
        scale, zero = self.observer.qparams()
        quantised = ((x / scale + zero).round().clamp(0, 255) - zero) * scale
        return x + (quantised - x).detach()


class QATLinear(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.activation_fake_quant = FakeQuantize()

    def forward(self, x):
        return F.linear(self.activation_fake_quant(x), self.weight, self.bias)


def disable_observer(module):
    if isinstance(module, FakeQuantize):
        module.observer_enabled[0] = 0


torch.manual_seed(0)
net = nn.Sequential(QATLinear(6, 12), nn.ReLU(), QATLinear(12, 2))
compiled = torch.compile(net, backend="aot_eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(16, 6), torch.randint(0, 2, (16,))
for epoch in range(4):
    if epoch == 2:
        net.apply(disable_observer)
    loss = F.cross_entropy(compiled(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}", f"{net[0].activation_fake_quant.observer.high.item():.4f}")
