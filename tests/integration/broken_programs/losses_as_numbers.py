"""A policy returns its loss, and the parts of it as numbers for a log.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/open-edge-platform/physical-ai-studio/pull/877
"""

import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self, observed=8, actions=3, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(observed, 16), nn.GELU(), nn.Linear(16, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.GELU(), nn.Linear(16, actions))

    def compute_loss(self, batch):
        mean, log_variance = self.encoder(batch["observation"]).chunk(2, dim=-1)
        predicted = self.decoder(mean)
        l1 = F.l1_loss(predicted, batch["action"])
        loss_parts = {"l1_loss": l1.item()}  # cause
        kl = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(-1).mean()
        loss_parts["kld_loss"] = kl.item()
        return l1 + 0.1 * kl, loss_parts

    def forward(self, batch):
        return self.compute_loss(batch)


def main():
    torch.manual_seed(0)
    policy = Policy()
    compiled = torch.compile(policy, backend="aot_eager")
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2)
    for step in range(4):
        batch = {"observation": torch.randn(16, 8), "action": torch.randn(16, 3)}
        loss, parts = compiled(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, {name: round(value, 3) for name, value in parts.items()})


main()
