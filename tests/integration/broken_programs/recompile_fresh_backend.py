"""torch.compile in a loop, with another backend function each time.

kind: compiled anew
advice: once
"""

import torch


def doubled(x):
    return x * 2


for _ in range(3):
    compiled = torch.compile(doubled, backend=lambda graph, inputs: graph.forward)  # cause
    print(compiled(torch.ones(4)).tolist())
