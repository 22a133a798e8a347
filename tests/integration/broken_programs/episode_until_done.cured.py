import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, history):
        return self.net(history.mean(1))


@torch.compile(backend="eager")
def moved(policy, state, history):
    state = state + 0.5 * policy(history).tanh() + 0.2
    return state, torch.cat([history, state[:, None]], dim=1), state.abs().sum(-1) > 2.0


class Agent:
    def __init__(self, policy, limit=8):
        self.policy = policy
        self.limit = limit

    def play(self, state):
        history = state[:, None]
        for _ in range(self.limit):
            state, history, done = moved(self.policy, state, history)
            if torch.all(done):
                break
        return history.sum((1, 2))


torch.manual_seed(0)
agent = Agent(Policy().eval())
with torch.no_grad():
    for _ in range(4):
        print([round(each, 3) for each in agent.play(torch.randn(3, 3) * 0.1).tolist()])
