"""A graph convolution is given its adjacency matrix as a sparse tensor.

kind: fell back to eager
advice: outside of the compiled code

Made after https://github.com/tkipf/pygcn/blob/master/pygcn/layers.py
"""

import torch
import torch.nn.functional as F
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) * 0.3)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)  # cause
        return output + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)

    def forward(self, x, adj):
        x = F.relu(self.gc1(x / x.sum(1, keepdim=True), adj))
        return F.log_softmax(self.gc2(x, adj), dim=1)


torch.manual_seed(0)
nodes = 8
dense = (torch.rand(nodes, nodes) > 0.6).float() + torch.eye(nodes)
adj = (dense / dense.sum(1, keepdim=True)).to_sparse()
features, labels = torch.rand(nodes, 5), torch.randint(0, 3, (nodes,))
gcn = GCN(5, 6, 3)
model = torch.compile(gcn, backend="aot_eager")
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.05)
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.nll_loss(model(features, adj), labels)
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 4))
