"""torch_geometric: GIN on batches of small graphs of varying sizes, with pooling."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, MLP, global_add_pool

torch.manual_seed(0)
graphs = [
    Data(x=torch.randn(n, 8), edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.tensor([n % 2]))
    for n in range(6, 38)
]
gnn, head = GIN(8, 32, 2, dropout=0.0), MLP([32, 32, 2], norm=None, dropout=0.0)
optimizer = torch.optim.Adam([*gnn.parameters(), *head.parameters()], lr=0.01)
for epoch in range(3):
    total = 0.0
    for data in DataLoader(graphs, batch_size=8):
        out = head(global_add_pool(gnn(data.x, data.edge_index), data.batch))
        loss = torch.nn.functional.cross_entropy(out, data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, f"{total:.2f}")
