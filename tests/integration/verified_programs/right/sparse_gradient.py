"""An embedding whose gradient is sparse."""

import torch

torch.manual_seed(0)
table = torch.nn.Embedding(10, 4, sparse=True)
optimizer = torch.optim.SparseAdam(list(table.parameters()))


@torch.compile(backend="aot_eager")
def step(index):
    return table(index).pow(2).sum()


for _ in range(3):
    optimizer.zero_grad()
    step(torch.tensor([1, 3, 3])).backward()
    optimizer.step()
print(table.weight.grad.is_sparse, round(table.weight.sum().item(), 4))
