"""A backend of the program's own makes one operation of equal ones, where nothing writes in between."""

import torch


def sharing(gm, example_inputs):
    known = {}
    pure = {torch.sin, torch.cos, torch.exp}
    for node in list(gm.graph.nodes):
        key = (node.target, node.args)
        if node.op == "call_function" and node.target in pure:
            if key in known:
                node.replace_all_uses_with(known[key])
                gm.graph.erase_node(node)
            known.setdefault(key, node)
    gm.recompile()
    return gm.forward


@torch.compile(backend=sharing)
def waves(x):
    first = torch.sin(x) * torch.cos(x)
    second = torch.sin(x) + torch.exp(x)
    return first - second * torch.cos(x)


x = torch.linspace(0, 1, 5, requires_grad=True)
waves(x).sum().backward()
print(round(x.grad.sum().item(), 3))
