"""MAML: the outer gradient goes through a gradient step of the inner loop."""

import torch
from torch import nn

torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(1, 8), nn.Linear(8, 1)

    def forward(self, x, weights=None):
        w = dict(self.named_parameters()) if weights is None else weights
        h = torch.tanh(nn.functional.linear(x, w["hidden.weight"], w["hidden.bias"]))
        return nn.functional.linear(h, w["out.weight"], w["out.bias"])


model = Regressor()
outer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    x = torch.randn(5, 1)
    y = torch.sin(x + step)
    weights = dict(model.named_parameters())
    inner_loss = nn.functional.mse_loss(model(x, weights), y)
    gradients = torch.autograd.grad(inner_loss, list(weights.values()), create_graph=True)
    adapted = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), gradients, strict=True)}
    outer_loss = nn.functional.mse_loss(model(x + 0.5, adapted), torch.sin(x + 0.5 + step))
    outer.zero_grad()
    outer_loss.backward()
    outer.step()
    print(step, inner_loss.item(), outer_loss.item(), model.hidden.weight.grad.norm().item())
