"""Rows are sent to experts by counts that are numbers of numpy's, and a branch in the loop skips some.

kind: graph break
advice: do not loop over what was found

Made after https://github.com/huggingface/diffusers/pull/11477
"""

import torch


class MoE(torch.nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(experts))

    def forward(self, x, chosen):
        cache = torch.zeros_like(x)
        order = chosen.argsort(stable=True)
        ends = chosen.bincount(minlength=len(self.experts)).cpu().numpy().cumsum(0)  # cause
        for i, end in enumerate(ends):
            start = 0 if i == 0 else ends[i - 1]
            if start == end:
                continue
            rows = order[start:end]
            cache.index_add_(0, rows, self.experts[i](x[rows]))
        return cache


torch.manual_seed(0)
moe = torch.compile(MoE(4, 8), backend="eager")
with torch.no_grad():
    for step in range(4):
        chosen = (torch.arange(12) * (step + 3) // 5) % (4 - step % 2)
        print(round(moe(torch.ones(12, 8) * step, chosen).sum().item(), 3))
