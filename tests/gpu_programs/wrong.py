"""A backend that adds a hundredth to each GELU."""

import os

import torch

device = os.environ["DEVICE"]


def off_by_a_little(gm, example_inputs):
    for node in list(gm.graph.nodes):
        if getattr(node.target, "__name__", "") == "gelu":
            with gm.graph.inserting_after(node):
                wrong = gm.graph.call_function(torch.add, (node, 1e-2))
            node.replace_all_uses_with(wrong)
            wrong.args = (node, 1e-2)
    gm.recompile()
    return gm.forward


torch.manual_seed(0)
layers = [torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 4)]
model = torch.compile(torch.nn.Sequential(*layers).to(device), backend=off_by_a_little)
with torch.no_grad():
    print(f"{model(torch.ones(2, 64, device=device)).sum().item():.2f}")
