"""torch.jit.script, torch.jit.trace and torch.fx.symbolic_trace used by the program on its own modules."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.linear(x)) + x


def gated(x: torch.Tensor, n: int) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x * n
    return x - n


model = Net()
x = torch.randn(2, 3)
print(model(x).tolist())
traced = torch.jit.trace(model, (x,))
scripted = torch.jit.script(gated)
graph = torch.fx.symbolic_trace(model)
print(traced(x).tolist(), scripted(x, 2).tolist(), [node.op for node in graph.graph.nodes])
print(graph(x).tolist(), torch.equal(model(x), traced(x)))
traced(x).sum().backward()
print(model.linear.weight.grad.tolist(), graph.code.count("relu"))
exported = torch.export.export(model, (x,))
print(torch.allclose(exported.module()(x), model(x)))
