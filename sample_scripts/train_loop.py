"""A small network trained on a noisy sine: forward, backward, optimizer step."""

import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 64).unsqueeze(1)
    y = torch.sin(x) + 0.05 * torch.randn_like(x)

    model = Mlp()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"step {step + 1:2d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
