"""A backend of the program's own computes once what follows from buffers, and one is written later.

An idea of our own.
kind: value
stage: folding
"""

import torch


def folding(gm, example_inputs):
    """Compute what depends on nothing but the module's own state once."""
    names = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
    known = {name: each for name, each in zip(names, example_inputs, strict=True) if "buffers" in name}
    values = {}
    for node in list(gm.graph.nodes):
        if node.op == "placeholder" and node.name in known:
            values[node] = known[node.name].detach().clone()
        elif (
            node.op == "call_function"
            and node.all_input_nodes
            and all(each in values for each in node.all_input_nodes)
        ):
            args = torch.fx.map_arg(node.args, lambda each: values[each])
            kwargs = torch.fx.map_arg(node.kwargs, lambda each: values[each])
            values[node] = node.target(*args, **kwargs)
            gm.register_buffer(f"folded_{node.name}", values[node])
            with gm.graph.inserting_before(node):
                node.replace_all_uses_with(gm.graph.get_attr(f"folded_{node.name}"))
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm.forward


class Whiten(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("spread", torch.tensor([1.0, 4.0, 9.0]))
        self.gain = torch.nn.Parameter(torch.ones(3))

    def forward(self, values):
        values = values - values.mean()
        inverse = torch.rsqrt(self.spread)  # cause
        values = values * inverse
        return values * self.gain


module = Whiten()
model = torch.compile(module, backend=folding)
batch = torch.tensor([1.0, 2.0, 4.0])
with torch.no_grad():
    print(model(batch).tolist())
    module.spread.mul_(4)
    print(model(batch).tolist())
