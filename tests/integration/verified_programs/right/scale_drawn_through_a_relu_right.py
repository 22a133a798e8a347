"""A pass of the program's own draws a factor through a relu where it is above zero."""

import torch
import torch._inductor.config


def scale_behind(graph):
    aten = torch.ops.aten
    for relu in list(graph.find_nodes(op="call_function", target=aten.relu.default)):
        scaled = relu.args[0]
        is_scaled = scaled.target is aten.mul.Tensor and isinstance(scaled.args[1], float)
        if not is_scaled or scaled.args[1] <= 0:
            continue
        with graph.inserting_after(relu):
            first = graph.call_function(aten.relu.default, (scaled.args[0],))
        with graph.inserting_after(first):
            both = graph.call_function(aten.mul.Tensor, (first, scaled.args[1]))
        first.meta, both.meta = dict(relu.meta), dict(relu.meta)
        relu.replace_all_uses_with(both)
        graph.erase_node(relu)


torch._inductor.config.post_grad_custom_pre_pass = scale_behind


@torch.compile
def gates(x):
    return torch.relu(x * 0.5) + torch.relu(x * -0.5)


print(gates(torch.arange(-2.0, 3.0)).tolist())
