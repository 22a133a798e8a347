from dataclasses import make_dataclass

import torch
from torch import nn

Observation = make_dataclass("Observation", ["position", "speed"])


def observed(state):
    return Observation(state[:2], state[2:])


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, observation):
        seen = torch.cat([observation.position, observation.speed.tanh()])
        return self.body(seen).softmax(0)


torch.manual_seed(0)
actor = torch.compile(Actor(), backend="eager")
state = torch.ones(4)
with torch.no_grad():
    for _ in range(4):
        action = actor(observed(state))
        state = state + torch.cat([action, -action])
        print([round(each, 4) for each in action.tolist()])
