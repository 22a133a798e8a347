import torch
from torch import nn


class Flow(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(2, dim), nn.Tanh(), nn.Linear(dim, 1))

    def forward(self, state):
        energy = self.energy(state).sum()
        (slope,) = torch.autograd.grad(energy, state)
        return torch.stack([slope[:, 1], -slope[:, 0]], dim=1)


torch._dynamo.config.trace_autograd_ops = True
torch.manual_seed(0)
flow = torch.compile(Flow(), backend="eager")
state = torch.tensor([[0.5, 0.0], [1.0, 0.2]])
for _ in range(4):
    state = (state + 0.1 * flow(state.clone().requires_grad_())).detach()
    print([round(each, 5) for each in state.flatten().tolist()])
