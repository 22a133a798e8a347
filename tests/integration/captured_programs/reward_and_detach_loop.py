"""REINFORCE: an episode is collected step by step through a policy, and one loss goes through all steps."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)


def act(state):
    probabilities = policy(state).softmax(-1)
    action = torch.multinomial(probabilities, 1).item()
    return action, probabilities[action].log()


def move(state, action):
    return torch.roll(state, action) * 0.9 + 0.1 * torch.randn(3)


for episode in range(3):
    state, log_probabilities, rewards = torch.ones(3), [], []
    for _ in range(5):
        action, log_probability = act(state)
        state = move(state, action)
        log_probabilities.append(log_probability)
        rewards.append(state.sum().item())
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probabilities) * (returns - returns.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item(), len(rewards), policy[0].bias.grad.norm().item())
