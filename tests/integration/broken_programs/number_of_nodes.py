"""The number of nodes is the largest index of the edges.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after a pattern common in PyTorch Geometric (maybe_num_nodes).
"""

import torch


@torch.compile(backend="eager")
def degree(edges):
    nodes = int(edges.max()) + 1  # cause
    return torch.zeros(nodes).index_add(0, edges[0], torch.ones(edges.shape[1]))


for seed in range(3):
    torch.manual_seed(seed)
    print(degree(torch.randint(0, 6, (2, 12))).tolist())
