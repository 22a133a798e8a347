"""torchdiffeq: the demo of a neural ODE, four iterations."""

import torch
from torchdiffeq import odeint

torch.manual_seed(0)
true_y0, t = torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 5.0, 40)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class Lambda(torch.nn.Module):
    def forward(self, t, y):
        return torch.mm(y**3, true_A)


class ODEFunc(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 50), torch.nn.Tanh(), torch.nn.Linear(50, 2))

    def forward(self, t, y):
        return self.net(y**3)


with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t, method="dopri5")
func = ODEFunc()
optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    loss = torch.mean(torch.abs(odeint(func, true_y0, t) - true_y))
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.3f}")
