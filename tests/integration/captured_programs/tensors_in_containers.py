"""Tensors as dict keys and set members, found by identity and by value in lists, sorted and hashed."""

import torch

torch.manual_seed(0)
memory = {}


def remember(x, name):
    memory[x] = name
    return x * 2


def index_of(tensors, x):
    for index, candidate in enumerate(tensors):
        if candidate is x:
            return index
    return -1


def shared(tensors):
    return len({id(t) for t in tensors}), len({t.data_ptr() for t in tensors})


a, b = torch.ones(2), torch.ones(2)
out = remember(a, "a")
print(memory[a], b in memory, out in memory, index_of([b, a, out], a), index_of([b], a))
print(shared([a, a, b, a.view(2)]), hash(a) == hash(b), a.equal(b))
ranked = sorted([torch.tensor(3.0), torch.tensor(1.0), torch.tensor(2.0)], key=lambda t: t.item())
print([t.item() for t in ranked], max(ranked).item(), sum(ranked).item(), torch.tensor(1.0) in ranked)
try:
    print(a in [b, out])
except RuntimeError as error:
    print(type(error).__name__, error)
