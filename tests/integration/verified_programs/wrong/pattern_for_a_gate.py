"""A pattern of the program's own makes a product and a difference one operation, with the wrong sign.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config
from torch._inductor.pattern_matcher import (
    Arg,
    CallFunction,
    PatternMatcherPass,
    register_graph_pattern,
)

aten = torch.ops.aten
patterns = PatternMatcherPass()


@register_graph_pattern(
    CallFunction(aten.sub.Tensor, Arg(), CallFunction(aten.mul.Tensor, Arg(), Arg())),
    pass_dict=patterns,
)
def subtracted_product(match, value, left, right):
    with match.graph.inserting_before(match.output_node()):
        fused = match.graph.call_function(aten.addcmul.default, (value, left, right))
    fused.meta = dict(match.output_node().meta)
    match.output_node().replace_all_uses_with(fused)
    match.erase_nodes()


torch._inductor.config.post_grad_custom_post_pass = lambda graph: patterns.apply(graph)


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keep = torch.nn.Linear(4, 4)
        self.state = torch.nn.Linear(4, 4)

    def updated(self, state, gate):
        candidate = torch.tanh(state)
        forgotten = gate * candidate
        state = state - forgotten  # cause
        return state + 0.5

    def forward(self, x):
        gate = torch.sigmoid(self.keep(x))
        state = self.updated(self.state(x), gate)
        return state.mean(dim=0) + x.sum()


torch.manual_seed(0)
memory = torch.compile(Memory())
with torch.no_grad():
    print(memory(torch.linspace(-1.0, 1.0, 8).reshape(2, 4)))
