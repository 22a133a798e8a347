"""The output layer shares the embedding's weight; one gradient, one entry in state_dict under two names."""

import torch
from torch import nn

torch.manual_seed(0)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        return self.out(self.embed(tokens).mean(1))


model = Tied()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.tensor([[0, 1], [2, 3]])), torch.tensor([4, step % 2]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), model.out.weight.grad is model.embed.weight.grad)
    if step == 2:
        model.out.weight = nn.Parameter(model.embed.weight.detach().clone())
print(list(model.state_dict()), len(list(model.parameters())), model.embed.weight.grad.tolist())
