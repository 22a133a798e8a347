"""An output that is also used by another one gets no gradient, although the program asks to keep it.

After reports that retain_grad on what a compiled function gives leaves None.
kind: gradient
stage: AOTAutograd
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(3, 4)
        self.head = torch.nn.Linear(4, 1)

    def hidden(self, x):
        x = self.embed(x)
        return torch.tanh(x)  # cause

    def forward(self, x):
        hidden = self.hidden(x)
        score = self.head(hidden).sum()
        return hidden, score


torch.manual_seed(0)
encoder = torch.compile(Encoder(), backend="aot_eager")
hidden, score = encoder(torch.ones(2, 3))
hidden.retain_grad()
score.backward()
print(hidden.grad)
