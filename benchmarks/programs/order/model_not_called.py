"""Compiles a model but calls the original, and compiles its loss for nine names of losses.

The model is small and runs 50 times; each name compiles the loss anew.
"""
# first: name
# cure name: loss_of(model(x), name) => loss_of(model(x), "l0")
# cure model: model(x) => compiled(x)

import torch

model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16))
compiled = torch.compile(model, backend="aot_eager")  # cause: model


@torch.compile(backend="aot_eager")
def loss_of(x, name):
    for _ in range(20):
        x = torch.tanh(x) * (2 if name == "l1" else 3)  # cause: name
    return x.mean()


x = torch.ones(4, 16)
with torch.no_grad():
    for step in range(50):
        name = f"l{step % 7}"
        loss_of(model(x), name)
print("done")
