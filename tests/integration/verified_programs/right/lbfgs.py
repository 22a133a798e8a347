"""LBFGS calls the compiled closure several times a step."""

import torch

weights = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
optimizer = torch.optim.LBFGS([weights], lr=0.5, max_iter=4)


@torch.compile(backend="aot_eager")
def loss_of(w):
    return ((w - 3) ** 2).sum() + w.pow(4).sum() * 0.01


def closure():
    optimizer.zero_grad()
    loss = loss_of(weights)
    loss.backward()
    return loss


for _ in range(2):
    print(f"{optimizer.step(closure).item():.3f}")
