"""LBFGS calls its closure several times a step; the numbers and the count of calls are the same."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
x = torch.linspace(-1, 1, 12).unsqueeze(1)
y = torch.sin(3 * x)
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for step in range(2):
    print(step, f"{optimizer.step(closure).item():.4f}", calls)
