"""A loss takes the time of one of its parts.

kind: fell back to eager
advice: clock

Made after https://github.com/pytorch/rl/pull/3297
"""

import time
from collections import defaultdict

import torch
from torch import nn


class timeit:
    """Sums up the time of named sections."""

    seconds = defaultdict(float)
    calls = defaultdict(int)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin = time.perf_counter()  # cause
        return self

    def __exit__(self, *error):
        timeit.seconds[self.name] += time.perf_counter() - self.begin
        timeit.calls[self.name] += 1


class Actor(nn.Module):
    def __init__(self, observed=6, actions=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(observed, 32), nn.Tanh(), nn.Linear(32, 2 * actions))

    def forward(self, observation):
        mean, log_std = self.net(observation).chunk(2, dim=-1)
        return mean, log_std.clamp(-4, 1)


class PPOLoss(nn.Module):
    def __init__(self, actor, critic, clip=0.2):
        super().__init__()
        self.actor, self.critic, self.clip = actor, critic, clip

    def log_prob(self, observation, action):
        mean, log_std = self.actor(observation)
        return (-0.5 * ((action - mean) / log_std.exp()) ** 2 - log_std).sum(-1)

    def forward(self, observation, action, old_log_prob, advantage, target):
        with timeit("ppo/actor"):
            ratio = (self.log_prob(observation, action) - old_log_prob).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            gain = torch.minimum(ratio * advantage, clipped * advantage)
        value = self.critic(observation).squeeze(-1)
        return -gain.mean() + 0.5 * (value - target).pow(2).mean()


torch.manual_seed(0)
actor, critic = Actor(), nn.Linear(6, 1)
loss_module = torch.compile(PPOLoss(actor, critic), backend="aot_eager")
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
observation, action = torch.randn(32, 6), torch.randn(32, 2)
advantage, target = torch.randn(32), torch.randn(32)
for epoch in range(4):
    loss = loss_module(observation, action, torch.full((32,), -2.0), advantage, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
print(dict(timeit.calls))
