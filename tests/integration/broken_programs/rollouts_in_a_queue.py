"""An actor puts what it saw into a queue, from which a learner takes it.

kind: fell back to eager
advice: out of the compiled code

Made after a pattern common in reinforcement learning (actors and learners).
"""

import queue

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, observations=4, actions=3):
        super().__init__()
        self.body = nn.Linear(observations, 16)
        self.pi = nn.Linear(16, actions)
        self.v = nn.Linear(16, 1)

    def forward(self, x):
        hidden = torch.tanh(self.body(x))
        return self.pi(hidden).log_softmax(-1), self.v(hidden).squeeze(-1)


class Actor:
    def __init__(self, policy, rollouts):
        self.policy = policy
        self.rollouts = rollouts

    def act(self, observation):
        log_probs, value = self.policy(observation)
        action = log_probs.argmax(-1)
        chosen = log_probs.gather(-1, action[:, None]).squeeze(-1)
        self.rollouts.put((chosen, value))  # cause
        return torch.cat([observation[:, 1:], action[:, None].float()], dim=1) * 0.9


def learn(rollouts, policy):
    loss = 0
    while not rollouts.empty():
        chosen, value = rollouts.get()
        loss = loss + (value - 1).pow(2).mean() - 0.1 * chosen.mean()
    loss.backward()
    with torch.no_grad():
        for weight in policy.parameters():
            weight -= 0.01 * weight.grad
            weight.grad = None
    return loss.item()


torch.manual_seed(0)
policy, rollouts = Policy(), queue.Queue()
act = torch.compile(Actor(policy, rollouts).act, backend="aot_eager")
for episode in range(3):
    observation = torch.randn(5, 4)
    for _ in range(2):
        observation = act(observation).detach()
    print(episode, round(learn(rollouts, policy), 4))
