"""An identity whose backward pass clips the gradient where its norm is large.

kind: graph break
advice: torch.where

Made after https://github.com/pytorch/pytorch/issues/138215
"""

import torch
from torch import nn


class ClippedIdentity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        norm = grad.norm()
        if norm > ctx.limit:  # cause
            grad = grad * (ctx.limit / norm)
        return grad, None


class Critic(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder = nn.Linear(5, width)
        self.value = nn.Linear(width, 1)
        self.reward = nn.Linear(width, 1)

    def forward(self, observations):
        hidden = torch.tanh(self.encoder(observations))
        hidden = ClippedIdentity.apply(hidden, 0.05)
        return self.value(hidden).squeeze(-1), self.reward(hidden).squeeze(-1)


def main():
    torch.manual_seed(0)
    critic = Critic()
    compiled = torch.compile(critic, backend="aot_eager")
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    for number in range(4):
        observations = torch.randn(6, 5)
        value, reward = compiled(observations)
        loss = (value - 1).pow(2).mean() + (reward - observations[:, 0]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(number, round(loss.item(), 4), round(critic.encoder.weight.grad.norm().item(), 4))


if __name__ == "__main__":
    main()
