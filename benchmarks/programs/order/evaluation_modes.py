"""Evaluates while gradients are on in the first epoch only, with a list of two lengths. By Inductor.

Grad mode compiles a model of six layers once more; the list's length a function of two operations.
"""
# first: grad
# cure grad: torch.set_grad_enabled(epoch == 0) => torch.no_grad()
# cure heads: [x, x][: epoch + 1] => [x, x]

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(3) for m in (torch.nn.Linear(32, 32), torch.nn.Tanh())])


def evaluate(x):
    return torch.softmax(model(x), -1)


def merge(parts):
    return torch.stack(parts).sum(0)  # cause: heads


evaluated, merged = torch.compile(evaluate), torch.compile(merge)
for epoch in range(2):
    x = torch.ones(8, 32)
    with torch.set_grad_enabled(epoch == 0):
        evaluated(x)  # cause: grad
    with torch.no_grad():
        merged([x, x][: epoch + 1])
print("done")
