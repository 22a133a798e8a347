"""A backend of the user's knows no error function.

origin: graph
kind: exception
"""

import torch

KNOWN = (torch.sin, torch.relu, torch.exp)


def strict(gm, example_inputs):
    for node in gm.graph.nodes:
        is_torchs = node.op == "call_function" and getattr(node.target, "__module__", "") != "_operator"
        if is_torchs and node.target not in KNOWN:
            raise NotImplementedError(f"no kernel for {node.target.__name__}")
    return gm.forward


@torch.compile(backend=strict)
def step(rows):
    rows = torch.sin(rows) * 3
    rows = torch.exp(rows).clamp(max=2)
    rows = rows + torch.erf(rows)
    return torch.relu(rows) - 1


step(torch.randn(12, 7))
