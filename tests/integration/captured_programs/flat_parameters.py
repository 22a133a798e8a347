"""All parameters are views of one flat vector, which is updated at once; vectors and back again."""

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
flat = parameters_to_vector(model.parameters()).detach().clone()
vector_to_parameters(flat, model.parameters())


def loss_of(x):
    return model(x).pow(2).mean()


for step in range(3):
    gradient = parameters_to_vector(torch.autograd.grad(loss_of(torch.randn(5, 3)), list(model.parameters())))
    flat -= 0.1 * gradient
    print(step, flat.norm().item(), model[0].weight.data_ptr() == flat.data_ptr(), model[2].bias.item())
offset = 0
for parameter in model.parameters():
    size = parameter.numel()
    parameter.data = flat[offset : offset + size].view_as(parameter)
    offset += size
flat.zero_()
print(loss_of(torch.ones(2, 3)).item())
