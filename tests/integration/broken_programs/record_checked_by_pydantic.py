"""A policy gives its answer as a dataclass of pydantic's.

kind: graph break
advice: `dataclasses.dataclass`

Made after https://github.com/pytorch/pytorch/issues/177986
"""

import pydantic.dataclasses
import torch
from torch import nn


@pydantic.dataclasses.dataclass(config={"arbitrary_types_allowed": True})
class Decision:
    action: torch.Tensor
    value: torch.Tensor


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.actor, self.critic = nn.Linear(8, 3), nn.Linear(8, 1)

    def decide(self, state):
        hidden = self.body(state).tanh()
        return Decision(self.actor(hidden).softmax(-1), self.critic(hidden)[:, 0])  # cause

    def forward(self, state):
        decision = self.decide(state)
        return decision.action * decision.value[:, None]


torch.manual_seed(0)
policy = torch.compile(Policy(), backend="eager")
for _ in range(3):
    print([round(each, 4) for each in policy(torch.ones(1, 4))[0].tolist()])
