"""A diffusion sampler whose denoiser counts its own steps, and whose schedule branches on a value.

The count is constant to Dynamo: the denoiser compiles anew in each step until the limit. The branch is met
in 12 steps of a tiny function.
"""
# first: count
# cure count: import torch => import torch; torch.compiler.config.dynamic_sources = "L['self'].steps"
# cure branch: y.clamp(-3, 3) if x.abs().max() > 3 else y => torch.where(x.abs().max() > 3, y.clamp(-3, 3), y)

import torch


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(24))
        self.steps = 0

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x)) * (1.0 + 0.0 * self.steps)  # cause: count
        self.steps += 1  # cause: count
        return x


def scheduled(x):
    y = x * 0.9
    y = y.clamp(-3, 3) if x.abs().max() > 3 else y  # cause: branch
    return y - 0.01


torch.manual_seed(0)
denoise = torch.compile(Denoiser(), backend="aot_eager")
schedule = torch.compile(scheduled, backend="aot_eager")
with torch.no_grad():
    x = torch.randn(4, 32)
    for _ in range(12):
        x = schedule(denoise(x))
print(x.shape)
