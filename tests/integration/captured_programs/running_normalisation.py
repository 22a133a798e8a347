"""Statistics of the module's own, read and then updated in each forward: a normaliser, a codebook."""

import torch
from torch import nn

torch.manual_seed(0)


class RunningNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("log_scale", torch.zeros(size))

    def forward(self, x):
        out = (x - self.mean) * torch.exp(-self.log_scale)
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(0), 0.5)
                self.log_scale.lerp_(x.std(0).log(), 0.5)
        return out


class Codebook(nn.Module):
    def __init__(self, count, size):
        super().__init__()
        self.register_buffer("codes", torch.randn(count, size))

    def forward(self, x):
        chosen = torch.cdist(x, self.codes).argmin(1)
        taken = torch.tanh(self.codes)[chosen]
        with torch.no_grad():
            self.codes.mul_(0.9).index_add_(0, chosen, x.detach(), alpha=0.1)
        return x * taken


model = nn.Sequential(
    nn.Linear(3, 4), RunningNorm(4), nn.Linear(4, 4), nn.Tanh(), Codebook(5, 4), nn.BatchNorm1d(4)
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    loss = (model(torch.randn(6, 3)) - 0.5).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    print(step, f"{loss.item():.5f}", [f"{p.grad.norm().item():.5f}" for p in model.parameters()])
    optimizer.step()
print([f"{buffer.double().sum().item():.4f}" for buffer in model.buffers()])
print(model.eval()(torch.ones(1, 3)).tolist())
