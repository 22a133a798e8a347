"""A pass over Inductor's graphs that the program registers takes each product with a number for a sum.

origin: source
kind: wrong result
pass: DoubledBySums
"""

import torch
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass


class DoubledBySums(CustomGraphPass):
    def __call__(self, graph):
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor):
            if isinstance(node.args[1], float):
                with graph.inserting_before(node):
                    doubled = graph.call_function(torch.ops.aten.add.Tensor, (node.args[0], node.args[0]))
                doubled.meta = node.meta.copy()
                node.replace_all_uses_with(doubled)
                graph.erase_node(node)

    def uuid(self):
        return b"doubled by sums"


config.post_grad_custom_post_pass = DoubledBySums()


@torch.compile
def scaled(table, tokens):
    return torch.nn.functional.embedding(tokens, table) * 3.5


print(scaled(torch.ones(50, 8), torch.arange(6)).sum().item())
