"""A codebook replaces the codes that nobody uses by inputs.

kind: graph break
advice: after the call of `Codebook.forward`

Made after `expire_codes_` of lucidrains/vector-quantize-pytorch.
"""

import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self, codes=8, dim=3, threshold=0.2, decay=0.5):
        super().__init__()
        self.threshold, self.decay = threshold, decay
        self.register_buffer("embed", torch.randn(codes, dim))
        self.register_buffer("cluster_size", torch.ones(codes))

    @torch.no_grad()
    def expire_codes_(self, flat):
        expired = self.cluster_size < self.threshold
        if not torch.any(expired):  # cause
            return
        picked = torch.randint(0, flat.size(0), (self.embed.size(0),))
        self.embed.copy_(torch.where(expired[:, None], flat[picked], self.embed))
        self.cluster_size.masked_fill_(expired, 1.0)

    def forward(self, x):
        flat = x.flatten(0, 1)
        codes = torch.cdist(flat, self.embed).argmin(dim=-1)
        quantized = self.embed[codes].view_as(x)
        if self.training:
            onehot = torch.nn.functional.one_hot(codes, self.embed.size(0)).float()
            self.cluster_size.lerp_(onehot.sum(0), 1 - self.decay)
            self.expire_codes_(flat)
        return x + (quantized - x).detach()


torch.manual_seed(0)
codebook = Codebook()
quantize = torch.compile(codebook, backend="eager")
with torch.no_grad():
    for _ in range(5):
        out = quantize(torch.randn(2, 10, 3))
        print(round(out.sum().item(), 4), round(codebook.embed.sum().item(), 4))
