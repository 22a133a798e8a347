"""A graph network makes its adjacency matrix in each call.

kind: graph break
advice: index_add

Made after a pattern common in tutorials on graph networks (torch.sparse_coo_tensor in forward).
"""

import torch
from torch import nn


def normalize_adj(edge_index, num_nodes):
    row, col = edge_index
    deg = torch.zeros(num_nodes).index_add_(0, row, torch.ones(row.shape[0]))
    weight = deg.pow(-0.5)[row] * deg.pow(-0.5)[col]
    return torch.sparse_coo_tensor(edge_index, weight, (num_nodes, num_nodes))  # cause


class GCN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.lins = nn.ModuleList([nn.Linear(6, width), nn.Linear(width, 3)])

    def forward(self, x, edge_index):
        adj = normalize_adj(edge_index, x.shape[0])
        for lin in self.lins:
            x = torch.sparse.mm(adj, lin(x)).relu()
        return x.log_softmax(-1)


torch.manual_seed(0)
model = GCN()
fast = torch.compile(model, backend="eager")
opt = torch.optim.Adam(model.parameters(), lr=0.02)
ring = torch.arange(10)
edges = torch.stack([torch.cat([ring, (ring + 1) % 10]), torch.cat([(ring + 1) % 10, ring])])
x, labels = torch.randn(10, 6), torch.randint(0, 3, (10,))
for epoch in range(4):
    loss = nn.functional.nll_loss(fast(x, edges), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, f"{loss.item():.4f}")
