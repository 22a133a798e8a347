"""Two losses on one forward, backward one after the other, each through its own part of the graph."""

import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        self.critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, state):
        return torch.log_softmax(self.actor(state), -1), self.critic(state).squeeze(-1)


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    states, actions, returns = torch.randn(6, 4), torch.randint(0, 2, (6,)), torch.randn(6)
    log_probabilities, values = model(states)
    advantage = (returns - values).detach()
    actor_loss = -(log_probabilities[torch.arange(6), actions] * advantage).mean()
    critic_loss = (returns - values).pow(2).mean()
    optimizer.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    optimizer.step()
    print(step, actor_loss.item(), critic_loss.item())
