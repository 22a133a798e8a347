"""An index out of range in an embedding is an IndexError that a tokenizer's fallback catches."""

import torch
from torch import nn

torch.manual_seed(0)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(10, 4), nn.Linear(4, 2)

    def forward(self, tokens):
        return self.out(self.embedding(tokens).mean(1))


model = Words()
for tokens in (torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 10]]), torch.tensor([[-1, 2, 3]])):
    try:
        print(model(tokens).tolist())
    except IndexError as error:
        print(type(error).__name__, error)
        print(model(tokens.clamp(0, 9)).tolist())
