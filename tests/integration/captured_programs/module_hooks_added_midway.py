"""Hooks that come and go between calls of a model that already ran, and one for all modules."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
x = torch.ones(1, 3)
seen = {}


def save(name):
    def hook(module, args, output):
        seen[name] = output.detach().clone()

    return hook


print(model(x).tolist(), sorted(seen))
handles = [child.register_forward_hook(save(name)) for name, child in model.named_children()]
print(model(x).tolist(), {name: value.tolist() for name, value in seen.items()})
for handle in handles:
    handle.remove()
seen.clear()
print(model(x).tolist(), sorted(seen))
handle = nn.modules.module.register_module_forward_hook(lambda m, a, o: seen.update({type(m).__name__: 0}))
print(model(x).tolist(), sorted(seen))
handle.remove()
handle = model[0].register_forward_hook(lambda m, a, o: torch.zeros_like(o))
print(model(x).tolist())
handle.remove()
print(model(x).tolist())
