import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=12, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocabulary)

    def forward(self, token, state):
        state = (self.mix(state) + self.embed(token)).tanh()
        return self.head(state), state


class Streamer:
    def __init__(self, model):
        self.model = torch.compile(model, backend="eager")

    def stream(self, token, steps):
        state = torch.zeros(1, 8)
        for _ in range(steps):
            logits, state = self.model(token, state)
            token = logits.argmax(-1)
            yield token.tolist()


torch.manual_seed(0)
streamer = Streamer(Model())
for first in range(2):
    for token in streamer.stream(torch.tensor([first]), 4):
        print(token)
