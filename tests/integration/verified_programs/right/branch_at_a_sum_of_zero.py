"""A branch on a sum that is 0 but for rounding: each layer norm's numbers cancel. Either side is right."""

import torch


@torch.compile
def choose(hidden):
    if torch.nn.functional.layer_norm(hidden, (16,)).sum() > 0:
        return hidden + 1
    return hidden - 1


for batch in range(4, 20):
    generator = torch.Generator().manual_seed(batch)
    choose(torch.randn(batch, 10, 16, generator=generator))
print("done")
