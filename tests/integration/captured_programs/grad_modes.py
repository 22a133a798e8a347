"""no_grad, inference_mode, enable_grad and set_grad_enabled entered and left between and inside calls."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)


def forward(x):
    with torch.no_grad():
        baseline = model(x)
    return model(x) - baseline * 2


@torch.no_grad()
def evaluate(x):
    with torch.enable_grad():
        inner = model(x)
    return model(x), inner


def switch(x, enabled):
    torch.set_grad_enabled(enabled)
    return model(x)


x = torch.ones(1, 3)
print(forward(x).requires_grad, [t.requires_grad for t in evaluate(x)])
with torch.inference_mode():
    out = forward(x)
    print(out.is_inference(), out.requires_grad)
try:
    (out * model(x)).sum().backward()
except RuntimeError as error:
    print(type(error).__name__, error)
print(switch(x, False).requires_grad, torch.is_grad_enabled())
print(switch(x, True).requires_grad, torch.is_grad_enabled())
forward(x).sum().backward()
print(model.weight.grad.tolist(), torch.is_inference_mode_enabled())
