"""A backward goes through several calls of the compiled cell, whose state is detached now and then."""

import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(3, 4)
step = torch.compile(cell)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(2, 4)
for k in range(6):
    state = step(torch.full((2, 3), k / 6), state)
    if k % 3 == 2:
        optimizer.zero_grad()
        state.square().mean().backward()
        optimizer.step()
        state = state.detach()
print(round(float(state.sum()), 3))
