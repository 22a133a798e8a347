import torch
import torch.nn.functional as F
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) * 0.3)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, support, adj):
        return torch.spmm(adj, support) + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)

    @torch.compile(backend="aot_eager")
    def first(self, x):
        return torch.mm(x / x.sum(1, keepdim=True), self.gc1.weight)

    @torch.compile(backend="aot_eager")
    def second(self, x):
        return torch.mm(F.relu(x), self.gc2.weight)

    def forward(self, x, adj):
        x = self.gc1(self.first(x), adj)
        return F.log_softmax(self.gc2(self.second(x), adj), dim=1)


torch.manual_seed(0)
nodes = 8
dense = (torch.rand(nodes, nodes) > 0.6).float() + torch.eye(nodes)
adj = (dense / dense.sum(1, keepdim=True)).to_sparse()
features, labels = torch.rand(nodes, 5), torch.randint(0, 3, (nodes,))
gcn = GCN(5, 6, 3)
model = gcn
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.05)
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.nll_loss(model(features, adj), labels)
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 4))
