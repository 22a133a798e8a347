"""Observations of an environment are normalised by statistics of all that were seen.

kind: recompile
advice: dynamic=True

Made after `RunningMeanStd` of the wrappers of gym.
"""

import torch
from torch import nn


class RunningMeanStd:
    def __init__(self, shape, epsilon=1e-4):
        self.mean = torch.zeros(shape)
        self.var = torch.ones(shape)
        self.count = epsilon

    def update(self, x):
        batch_mean, batch_var, batch_count = x.mean(0), x.var(0), x.shape[0]
        delta = batch_mean - self.mean
        total = self.count + batch_count  # cause
        m2 = self.var * self.count + batch_var * batch_count
        m2 = m2 + delta.pow(2) * self.count * batch_count / total
        self.mean = self.mean + delta * batch_count / total
        self.var = m2 / total
        self.count = total


class Agent(nn.Module):
    def __init__(self, observed=4, actions=2):
        super().__init__()
        self.rms = RunningMeanStd(observed)
        self.actor = nn.Sequential(nn.Linear(observed, 8), nn.Tanh(), nn.Linear(8, actions))

    def forward(self, obs):
        self.rms.update(obs)
        normalized = (obs - self.rms.mean) / (self.rms.var + 1e-8).sqrt()
        return self.actor(normalized.clamp(-5, 5)).argmax(-1)


torch.manual_seed(0)
agent = Agent()
act = torch.compile(agent, backend="eager")
with torch.no_grad():
    for step in range(12):
        actions = act(torch.randn(8, 4) * 3 + 1)
    print(actions.tolist(), [round(each, 3) for each in agent.rms.mean.tolist()])
