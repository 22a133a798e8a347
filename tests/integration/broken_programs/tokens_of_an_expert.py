"""The tokens of each expert are found by where their mask is set.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after a pattern common in Hugging Face transformers (mixtures of experts).
"""

import torch


@torch.compile(backend="eager")
def routed(x, experts, chosen):
    out = torch.zeros_like(x)
    for number in range(experts.shape[0]):
        (tokens,) = torch.where(chosen == number)  # cause
        out = out.index_add(0, tokens, x[tokens] @ experts[number])
    return out


torch.manual_seed(0)
experts = torch.randn(2, 4, 4)
for _ in range(3):
    print(round(routed(torch.randn(6, 4), experts, torch.randint(0, 2, (6,))).sum().item(), 3))
