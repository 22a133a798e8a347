"""A backend of the program's own makes views of a whole tensor copies: what is written to one is lost.

Planted.
kind: mutation
stage: contiguous_views
"""

import torch


def contiguous_views(gm, inputs):
    for node in list(gm.graph.nodes):
        if node.op == "call_method" and node.target in ("view", "transpose"):
            with gm.graph.inserting_after(node):
                copied = gm.graph.call_method("clone", (node,))
            node.replace_all_uses_with(copied, delete_user_cb=lambda user, own=copied: user is not own)
    gm.recompile()
    return gm.forward


class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cells", torch.zeros(2, 3))

    def columns(self):
        return self.cells.transpose(0, 1)  # cause

    def forward(self, x):
        x = torch.sin(x)
        columns = self.columns()
        columns[0].add_(x)
        return x.sum() * 2.0


table = Table()
step = torch.compile(table, backend=contiguous_views)
step(torch.ones(2))
print(table.cells)
