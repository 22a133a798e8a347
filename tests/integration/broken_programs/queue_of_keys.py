"""Contrastive learning with a queue of keys, whose pointer is in a buffer (MoCo).

kind: graph break
advice: after the call of `MoCo.forward`

Made after https://github.com/facebookresearch/moco/blob/main/moco/builder.py
"""

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, width=6, dim=4, K=16, T=0.2):
        super().__init__()
        self.K, self.T = K, T
        self.encoder_q = nn.Linear(width, dim)
        self.encoder_k = nn.Linear(width, dim)
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        self.encoder_k.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)  # cause
        assert self.K % batch_size == 0
        self.queue[:, ptr : ptr + batch_size] = keys.T
        ptr = (ptr + batch_size) % self.K
        self.queue_ptr[0] = ptr

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        self._dequeue_and_enqueue(k)
        return logits


torch.manual_seed(0)
model = MoCo()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(4, 6)
    logits = compiled(x + 0.1 * torch.randn_like(x), x)
    loss = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4), model.queue_ptr.item())
