"""Dropout, rand, randn_like, bernoulli, multinomial, normal, randperm: numbers and the state afterwards."""

import torch
from torch import nn

torch.manual_seed(0)
dropout = nn.Dropout(0.3)


def noise(x):
    a = x + torch.rand(3)
    b = a * torch.randn_like(x)
    c = torch.bernoulli(torch.full((3,), 0.4))
    return a, b, c, dropout(x), torch.rand_like(x)


def sample(probabilities):
    index = torch.multinomial(probabilities, 2)
    return index, torch.randperm(4), torch.randint(0, 9, (3,)), torch.normal(probabilities, 0.1)


for _ in range(3):
    print([t.tolist() for t in noise(torch.ones(3))])
    print([t.tolist() for t in sample(torch.tensor([0.2, 0.5, 0.3]))])
    print(torch.get_rng_state().sum().item(), torch.rand(1).item())
