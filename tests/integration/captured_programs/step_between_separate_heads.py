"""RL: the actor's optimizer steps before the critic's loss goes backward; the critic needs nothing of it."""

import torch
from torch import nn

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)

    def forward(self, state):
        return self.actor(state).log_softmax(-1), self.critic(state).squeeze(-1)


model = ActorCritic()
actor_optimizer = torch.optim.Adam(model.actor.parameters(), lr=0.05)
critic_optimizer = torch.optim.Adam(model.critic.parameters(), lr=0.05)
for step in range(3):
    state, action, reward = torch.randn(5, 4), torch.randint(0, 2, (5, 1)), torch.randn(5)
    log_probabilities, value = model(state)
    actor_loss = -(log_probabilities.gather(1, action).squeeze(1) * (reward - value.detach())).mean()
    critic_loss = nn.functional.mse_loss(value, reward)
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    print(step, actor_loss.item(), critic_loss.item(), model.critic.weight.tolist())
