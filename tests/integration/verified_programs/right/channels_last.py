"""A convolution under Inductor chooses the memory format."""

import torch

torch.manual_seed(0)
layer = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)


@torch.compile
def step(x):
    return torch.relu(layer(x)).mean((2, 3))


print(step(torch.ones(2, 3, 8, 8).to(memory_format=torch.channels_last)).shape)
