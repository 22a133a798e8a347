"""A function that breaks and is recompiled, and one that trains: a few graphs of each kind."""

import torch


@torch.compile(backend="aot_eager", dynamic=False)
def broken(x: torch.Tensor, factor: int) -> torch.Tensor:
    x = x.sin() * factor
    torch._dynamo.graph_break()
    return x.cos() + factor


model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    broken(torch.ones(4 + step % 2), 1 + step // 2)
    compiled(torch.ones(8, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
