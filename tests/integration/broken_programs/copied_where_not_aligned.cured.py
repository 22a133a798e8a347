import torch
import torch.nn.functional as F
from torch import nn


def maybe_align(x, alignment_in_bytes=16):
    return x.clone()


class FusedNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x, residual):
        residual = residual + maybe_align(x.contiguous())
        return F.layer_norm(residual, x.shape[-1:], self.weight), residual


class Model(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.mlp = nn.Linear(dim, dim)
        self.norm = FusedNorm(dim)

    def forward(self, x):
        x, residual = self.norm(torch.relu(self.mlp(x)), x)
        return x + residual


torch.manual_seed(0)
model = torch.compile(Model().eval(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(f"{model(torch.randn(2, 8)).sum().item():.5f}")
