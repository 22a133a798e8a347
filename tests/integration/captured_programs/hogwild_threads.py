"""Threads run forward and backward of one shared model at the same time; the gradients add up."""

import threading

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1)).double()
data = torch.randn(6, 8, 4, dtype=torch.float64)
found = {}


def gradients_of(index):
    loss = model(data[index]).pow(2).mean()
    found[index] = loss.item(), torch.autograd.grad(loss, list(model.parameters()))


def double_backward(index):
    x = data[index].clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    found[index] = gradient.norm().item(), torch.autograd.grad(gradient.pow(2).sum(), model[0].weight)


for target in (gradients_of, double_backward):
    threads = [threading.Thread(target=target, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index in sorted(found):
        value, gradients = found[index]
        print(index, f"{value:.10f}", [f"{g.norm().item():.10f}" for g in gradients])
