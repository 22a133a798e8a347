"""An agent plays until all of its environments are done, in one compiled method.

kind: fell back to eager
advice: leave the loop to Python

Made after a pattern common in reinforcement learning (rollouts of a policy).
"""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, history):
        return self.net(history.mean(1))


class Agent:
    def __init__(self, policy, limit=8):
        self.policy = policy
        self.limit = limit

    def play(self, state):
        history = state[:, None]
        for _ in range(self.limit):
            state = state + 0.5 * self.policy(history).tanh() + 0.2
            history = torch.cat([history, state[:, None]], dim=1)
            done = state.abs().sum(-1) > 2.0
            if torch.all(done):  # cause
                break
        return history.sum((1, 2))


torch.manual_seed(0)
agent = Agent(Policy().eval())
play = torch.compile(agent.play, backend="eager")
with torch.no_grad():
    for _ in range(4):
        print([round(each, 3) for each in play(torch.randn(3, 3) * 0.1).tolist()])
