"""A codebook takes its first rows from the first batch, and a buffer says that it has.

kind: graph break
advice: Python

Made after https://github.com/lucidrains/vector-quantize-pytorch (codebooks)
"""

import torch
import torch.nn.functional as F
from torch import nn


def sample_rows(rows, count):
    return rows[torch.randperm(rows.shape[0])[:count]]


class EuclideanCodebook(nn.Module):
    def __init__(self, dim, size, decay=0.8, threshold=0.05):
        super().__init__()
        self.size, self.decay, self.threshold = size, decay, threshold
        self.initted = False
        self.register_buffer("cluster_size", torch.zeros(size))
        self.register_buffer("embed", torch.zeros(size, dim))
        self.register_buffer("embed_avg", torch.zeros(size, dim))

    def init_embed_(self, data):
        if self.initted:
            return
        embed = sample_rows(data, self.size)
        self.embed.copy_(embed)
        self.embed_avg.copy_(embed)
        self.cluster_size.fill_(1)
        self.initted = True

    def expire_codes_(self, batch):
        expired = self.cluster_size < self.threshold
        if not torch.any(expired):
            return
        fresh = batch[: self.size]
        self.embed.copy_(torch.where(expired[:, None], fresh, self.embed))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        self.init_embed_(flat)
        distance = torch.cdist(flat, self.embed)
        codes = distance.argmin(-1)
        onehot = F.one_hot(codes, self.size).type(x.dtype)
        if self.training:
            self.cluster_size.lerp_(onehot.sum(0), 1 - self.decay)
            self.embed_avg.lerp_(onehot.t() @ flat, 1 - self.decay)
            self.embed.copy_(self.embed_avg / (self.cluster_size[:, None] + 1e-5))
            self.expire_codes_(flat)
        return F.embedding(codes, self.embed).view_as(x), codes.view(x.shape[:-1])


class VQAutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(12, 8)
        self.codebook = EuclideanCodebook(8, 16)
        self.decode = nn.Linear(8, 12)

    def forward(self, x):
        z = self.encode(x)
        with torch.no_grad():
            quantised, codes = self.codebook(z)
        commit = F.mse_loss(z, quantised)
        z = z + (quantised - z).detach()
        return F.mse_loss(self.decode(z), x) + 0.25 * commit, codes


torch.manual_seed(0)
model = VQAutoEncoder()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(4, 10, 12)
for step in range(5):
    loss, codes = compiled(data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}", codes.unique().numel())
