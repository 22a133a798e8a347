"""What is appended to a list of a class that the function defines is lost at a graph break.

After https://github.com/pytorch/pytorch/issues/192872
kind: value
stage: tracing
"""

import torch
import torch._dynamo

torch._dynamo.config.enable_trace_load_build_class = True


@torch.compile(backend="eager")
def step(x):
    class Holder:
        items = []

    Holder.items.append(1)  # cause
    doubled = x * 2
    torch._dynamo.graph_break()
    Holder.items.append(2)
    return doubled + len(Holder.items)


print(step(torch.ones(2)))
