"""A hook of each module calls a function that is disabled.

kind: graph break
advice: torch.compiler.disable

Made after https://github.com/pytorch/pytorch/issues/135410
"""

import torch


@torch._dynamo.disable
def offload(t):
    return t.sin()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 16, bias=False)
        self.second = torch.nn.Linear(16, 16, bias=False)

    def forward(self, data, residual):
        return residual + self.second(self.first(data)) * 0.5


def collect(module, inputs, output):
    kept = offload(output)  # cause
    return kept.add(1)


torch.manual_seed(0)
block = Block()
block.register_forward_hook(collect)
for child in block.children():
    child.register_forward_hook(collect)
compiled = torch.compile(block, backend="eager")
for step in range(4):
    data = torch.full((2, 16), 0.1 * step)
    print(round(compiled(data, torch.ones(2, 16)).sum().item(), 4))
