"""A draft model gives its accuracy for each step ahead, as a number.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/sgl-project/SpecForge/pull/222
"""

import torch
import torch.nn.functional as F
from torch import nn


class DraftModel(nn.Module):
    def __init__(self, hidden=16, vocab=24, length=3):
        super().__init__()
        self.length = length
        self.fc = nn.Linear(hidden, hidden)
        self.lm_head = nn.Linear(hidden, vocab, bias=False)

    def _compute_metric_acc(self, logits, target, loss_mask):
        hit = (logits.argmax(-1) == target.argmax(-1)) * loss_mask.squeeze(-1)
        return hit.sum().item() / (loss_mask.sum().item() + 1e-6)  # cause

    def forward(self, hidden, target, loss_mask):
        plosses, acces = [], []
        for idx in range(self.length):
            hidden = torch.tanh(self.fc(hidden))
            logits = self.lm_head(hidden)
            log_probs = F.log_softmax(logits, dim=-1)
            loss = -(target.softmax(-1) * log_probs).sum(-1, keepdim=True) * loss_mask
            plosses.append(loss.mean())
            with torch.no_grad():
                acces.append(self._compute_metric_acc(logits, target, loss_mask))
        return plosses, acces


torch.manual_seed(0)
model = DraftModel()
compiled = torch.compile(model, backend="eager")
optim = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(4):
    hidden, target = torch.randn(2, 5, 16), torch.randn(2, 5, 24)
    mask = torch.ones(2, 5, 1)
    mask[0, step:] = 0
    plosses, acces = compiled(hidden, target, mask)
    loss = sum(0.8**i * p for i, p in enumerate(plosses))
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(step, f"{loss.item():.4f}", [round(a, 3) for a in acces])
