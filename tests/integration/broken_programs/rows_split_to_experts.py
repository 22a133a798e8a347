"""Tokens are split to experts by how many each is sent.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/PrimeIntellect-ai/prime-rl/issues/996
"""

import torch


class Experts(torch.nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.experts = experts
        self.weight = torch.nn.Parameter(torch.randn(experts, width, width) * 0.1)

    def forward(self, x, chosen):
        order = chosen.argsort(stable=True)
        counts = torch.zeros(self.experts, dtype=torch.long).scatter_add_(0, chosen, torch.ones_like(chosen))
        lengths = counts.tolist()  # cause
        parts = torch.split(x[order], lengths, dim=0)
        outs = [part @ self.weight[i] for i, part in enumerate(parts)]
        return torch.cat(outs)[order.argsort()]


torch.manual_seed(0)
experts = torch.compile(Experts(4, 8), backend="eager")
x = torch.randn(12, 8)
for step in range(5):
    chosen = (torch.arange(12) * (step + 3) // 5) % 4
    print(round(experts(x, chosen).sum().item(), 4))
