"""A pendulum moves along the gradient of an energy that a network learns.

kind: graph break
advice: and pass it in; and set

Made after a pattern common in physics (Hamiltonian networks, potentials with forces).
"""

import torch
from torch import nn


class Flow(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(2, dim), nn.Tanh(), nn.Linear(dim, 1))

    def forward(self, state):
        state.requires_grad_()
        energy = self.energy(state).sum()
        (slope,) = torch.autograd.grad(energy, state)  # cause
        return torch.stack([slope[:, 1], -slope[:, 0]], dim=1)


torch.manual_seed(0)
flow = torch.compile(Flow(), backend="eager")
state = torch.tensor([[0.5, 0.0], [1.0, 0.2]])
for _ in range(4):
    state = (state + 0.1 * flow(state.clone())).detach()
    print([round(each, 5) for each in state.flatten().tolist()])
