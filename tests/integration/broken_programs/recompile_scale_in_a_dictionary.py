"""The scale of an adapter is passed in a dictionary, and is another one in each step.

kind: recompile
advice: dynamic=True

Made after a pattern common in diffusers (cross_attention_kwargs).
"""

import torch


@torch.compile(backend="eager")
def attention(x, options):
    return x + x.sin() * options["scale"]  # cause


x = torch.ones(3)
for step in range(12):
    x = attention(x, {"scale": step / 12})
print([round(each, 4) for each in x.tolist()])
