"""A VAE with torch.distributions: rsample, log_prob, KL divergence, and argument checks that raise."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal, kl_divergence

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(4, 4), nn.Linear(2, 4)

    def forward(self, x):
        mean, log_std = self.encode(x).chunk(2, -1)
        posterior = Normal(mean, log_std.exp())
        z = posterior.rsample()
        kl = kl_divergence(posterior, Normal(torch.zeros(2), torch.ones(2))).sum(-1)
        return self.decode(z), kl, posterior


def policy(logits):
    distribution = Categorical(logits=logits)
    action = distribution.sample()
    return action, distribution.log_prob(action), distribution.entropy()


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(3):
    rebuilt, kl, posterior = model(torch.ones(3, 4))
    loss = (rebuilt - 1).pow(2).sum(-1).mean() + 0.1 * kl.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), posterior)
print([t.tolist() for t in policy(torch.tensor([[0.1, 0.9], [1.0, -1.0]]))])
try:
    policy(torch.tensor([[float("nan"), 0.0]]))
except ValueError as error:
    print(type(error).__name__, str(error).splitlines()[0])
print(torch.rand(1).item())
