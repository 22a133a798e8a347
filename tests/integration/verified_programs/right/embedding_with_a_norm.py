"""An embedding that scales its rows down where they are used."""

import torch

torch.manual_seed(0)
table = torch.nn.Embedding(10, 4, max_norm=1.0)


@torch.compile(backend="aot_eager")
def step(index):
    return table(index).norm(dim=-1)


for _ in range(3):
    print(step(torch.tensor([1, 3, 3])))
