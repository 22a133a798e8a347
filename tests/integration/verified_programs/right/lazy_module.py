"""A module that is made complete by its first call."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.ReLU(), torch.nn.LazyLinear(2))
step = torch.compile(model, backend="aot_eager")
for _ in range(3):
    print(step(torch.ones(2, 3)).shape)
