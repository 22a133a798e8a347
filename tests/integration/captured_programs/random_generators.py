"""A generator of the program's own, seeds set inside functions, and saved and restored states."""

import torch

generator = torch.Generator().manual_seed(5)


def draw(x, source):
    return x + torch.randn(3, generator=source)


def seeded(x):
    torch.manual_seed(7)
    return x * torch.rand(3)


print(draw(torch.zeros(3), generator).tolist(), draw(torch.zeros(3), generator).tolist())
print(seeded(torch.ones(3)).tolist(), torch.rand(1).item(), seeded(torch.ones(3)).tolist())
state = torch.get_rng_state()
first = seeded(torch.ones(3)) + torch.rand(3)
torch.set_rng_state(state)
print(torch.equal(first, torch.rand(3)), torch.initial_seed())
with torch.random.fork_rng():
    print(seeded(torch.ones(3)).tolist())
print(torch.rand(2).tolist(), generator.initial_seed())
