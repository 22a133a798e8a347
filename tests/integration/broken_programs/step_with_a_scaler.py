"""A training step with a gradient scaler is compiled as a whole.

kind: graph break
advice: move `optimizer.zero_grad()` out of the compiled code

Made after https://github.com/pytorch/pytorch/issues/138412
"""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 32)
        self.down = nn.Linear(32, 2)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


def main():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)

    @torch.compile(backend="eager")
    def train_step(x, y):
        optimizer.zero_grad()  # cause
        loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    for _ in range(4):
        loss = train_step(torch.randn(16, 8), torch.randint(0, 2, (16,)))
        print(round(loss.item(), 4))
    print(scaler.get_scale())


main()
