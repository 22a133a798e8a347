import torch
from torch import nn

torch._dynamo.config.capture_dynamic_output_shape_ops = True


def coalesce(edge_index, edge_attr, num_nodes):
    idx = edge_index[0] * num_nodes + edge_index[1]
    idx, perm = idx.sort()
    edge_index, edge_attr = edge_index[:, perm], edge_attr[perm]
    mask = torch.ones_like(idx, dtype=torch.bool)
    mask[1:] = idx[1:] > idx[:-1]
    edge_index = edge_index[:, mask]
    group = mask.cumsum(0) - 1
    merged = edge_attr.new_zeros(edge_index.size(1), edge_attr.size(1))
    return edge_index, merged.index_add(0, group, edge_attr)


class EdgeConv(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.lin = nn.Linear(2 * width, width)

    def forward(self, x, edge_index, edge_attr):
        edge_index, edge_attr = coalesce(edge_index, edge_attr, x.size(0))
        source, target = edge_index
        message = self.lin(torch.cat([x[source], edge_attr], dim=-1))
        return torch.zeros_like(x).index_add(0, target, message)


torch.manual_seed(0)
conv = torch.compile(EdgeConv(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        edges = torch.randint(0, 5, (2, 12))
        out = conv(torch.randn(5, 4), edges, torch.randn(12, 4))
        print(round(out.sum().item(), 4))
