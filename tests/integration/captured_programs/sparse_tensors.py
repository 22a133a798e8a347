"""Sparse embeddings and matrices: their gradients and products."""

import torch
from torch import nn

torch.manual_seed(0)
embedding, head = nn.Embedding(10, 3, sparse=True), nn.Linear(3, 1)
optimizers = [
    torch.optim.SparseAdam(embedding.parameters(), lr=0.1),
    torch.optim.SGD(head.parameters(), lr=0.1),
]


def score(tokens):
    return head(embedding(tokens).sum(1))


def propagate(adjacency, features):
    return torch.sparse.mm(adjacency, features).relu()


for step in range(3):
    loss = score(torch.tensor([[1, 2], [2, step]])).pow(2).sum()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    print(
        step,
        loss.item(),
        embedding.weight.grad.is_sparse,
        embedding.weight.grad.coalesce().indices().tolist(),
    )
    for optimizer in optimizers:
        optimizer.step()
adjacency = torch.eye(4)[[1, 2, 3, 0]].to_sparse()
features = torch.randn(4, 2, requires_grad=True)
out = propagate(adjacency, features)
out.sum().backward()
print(out.tolist(), features.grad.tolist(), adjacency.layout)
