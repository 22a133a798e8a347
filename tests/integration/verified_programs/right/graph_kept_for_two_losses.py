"""Two losses over one output: the first backward keeps the graph for the second."""

import torch

torch.manual_seed(0)
encoder = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.LeakyReLU(0.2), torch.nn.Linear(16, 4))
compiled = torch.compile(encoder, backend="aot_eager")
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for step in range(3):
    code = compiled(torch.randn(8, 6))
    optimizer.zero_grad()
    code.pow(2).mean().backward(retain_graph=True)
    code.abs().sum().backward()
    optimizer.step()
    print(step, round(encoder[0].weight.sum().item(), 4))
