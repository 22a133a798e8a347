"""Dynamically quantised and half-precision copies of a model that was called before."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)


def fake_quantise(x, scale):
    return torch.fake_quantize_per_tensor_affine(x, scale, 0, -128, 127)


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
x = torch.randn(3, 4)
with torch.no_grad():
    print(model(x).tolist())
    print(nn.Sequential(*model[:2]).to(torch.bfloat16)(x.to(torch.bfloat16)).float().sum().item())
    model.float()
    quantised = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    print(type(quantised[0]).__module__.split(".")[1], quantised(x).tolist())
leaf = torch.linspace(-2, 2, 5, requires_grad=True)
fake_quantise(leaf * 1, 0.01).sum().backward()
print(leaf.grad.tolist(), fake_quantise(x, 0.1)[0].tolist())
