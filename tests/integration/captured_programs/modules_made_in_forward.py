"""forward builds what it needs on its first call: parameters, buffers, submodules, and drops them again."""

import torch
from torch import nn

torch.manual_seed(0)


class Builds(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = None

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[-1], 2)
            self.gain = nn.Parameter(torch.ones(2))
            self.register_buffer("positions", torch.arange(2.0), persistent=False)
        self.last = x
        out = self.proj(x) * self.gain + self.positions
        self.running = 0.9 * getattr(self, "running", 0.0) + 0.1 * out.detach()
        return out


model = Builds()
for step in range(3):
    out = model(torch.full((1, 3), step + 1.0))
    out.sum().backward()
    print(step, out.tolist(), model.running.tolist(), model.last.tolist())
print(sorted(model.state_dict()), model.gain.grad.tolist())
del model.running
model.proj = None
print(tuple(model(torch.ones(2, 5)).shape), sorted(name for name, _ in model.named_modules()))
