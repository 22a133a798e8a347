"""Makes a backend of its own for each request, and a normalisation that meets a second dtype once.

Eight requests compile a function of 30 operations for eight backends; the dtype compiles one of 30 once more.
"""
# first: made
# cure made: backend=counting() => backend=COUNTING
# cure dtype: torch.float64 => torch.float32

import torch
from torch._dynamo.backends.registry import lookup_backend


def counting():
    def backend(graph, inputs):
        return lookup_backend("aot_eager")(graph, inputs)

    return backend


COUNTING = counting()


def handle(x):  # cause: made
    for _ in range(15):
        x = torch.tanh(x) + 1
    return x


def normalise(x):
    for _ in range(15):
        x = x / (x.abs() + 1)  # cause: dtype
    return x.sum()


normalised = torch.compile(normalise, backend="aot_eager")
for dtype in (torch.float32, torch.float64):
    normalised(torch.ones(4, 4, dtype=dtype))
for _ in range(8):
    torch.compile(handle, backend=counting())(torch.ones(4, 4))  # cause: made
print("done")
