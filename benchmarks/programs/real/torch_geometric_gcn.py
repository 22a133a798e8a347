"""torch_geometric: the GCN of its documentation on a random graph."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

torch.manual_seed(0)
data = Data(x=torch.randn(60, 16), edge_index=torch.randint(0, 60, (2, 300)), y=torch.randint(0, 4, (60,)))


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(16, 16)
        self.conv2 = GCNConv(16, 4)

    def forward(self, x, edge_index):
        x = self.conv1(x, edge_index).relu()
        return self.conv2(x, edge_index)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(20):
    model.train()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(data.x, data.edge_index), data.y)
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        print(epoch, f"{loss.item():.3f}")
