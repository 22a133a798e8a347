"""saved_tensors_hooks pack what backward needs (offloading, compression), and save_on_cpu around a model."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))
packed, unpacked = [], []


def pack(tensor):
    packed.append(tuple(tensor.shape))
    return tensor.half()


def unpack(tensor):
    unpacked.append(tuple(tensor.shape))
    return tensor.float()


def loss_of(x):
    return model(x).pow(2).mean()


x = torch.randn(2, 3)
loss_of(x).backward()
print(model[0].weight.grad.tolist())
model.zero_grad()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    loss = loss_of(x)
loss.backward()
print(sorted(packed), sorted(unpacked), model[0].weight.grad.tolist())
model.zero_grad()
with torch.autograd.graph.save_on_cpu():
    loss = loss_of(x)
loss.backward()
print(model[0].weight.grad.tolist())
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    print(loss_of(x).item())
