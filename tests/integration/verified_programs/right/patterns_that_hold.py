"""A pattern of the program's own makes a product and a sum one operation, rightly."""

import torch
import torch._inductor.config
from torch._inductor.pattern_matcher import Arg, CallFunction, PatternMatcherPass, register_graph_pattern

aten = torch.ops.aten
patterns = PatternMatcherPass()


@register_graph_pattern(
    CallFunction(aten.add.Tensor, Arg(), CallFunction(aten.mul.Tensor, Arg(), Arg())), pass_dict=patterns
)
def added_product(match, value, left, right):
    with match.graph.inserting_before(match.output_node()):
        fused = match.graph.call_function(aten.addcmul.default, (value, left, right))
    fused.meta = dict(match.output_node().meta)
    match.output_node().replace_all_uses_with(fused)
    match.erase_nodes()


torch._inductor.config.post_grad_custom_post_pass = lambda graph: patterns.apply(graph)


@torch.compile
def updated(state, gate, x):
    state = state + torch.sigmoid(gate) * torch.tanh(x)
    return state.mean(dim=0)


print([round(each, 3) for each in updated(torch.ones(2, 3), torch.zeros(2, 3), torch.ones(2, 3)).tolist()])
