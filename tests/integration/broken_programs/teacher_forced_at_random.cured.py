"""A decoder is told the right word at random: cured."""

import random

import torch
from torch import nn


class DecoderRNN(nn.Module):
    def __init__(self, vocab=12, hidden=10, ratio=0.5):
        super().__init__()
        self.ratio = ratio
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, hidden, target, drawn):
        token = torch.zeros(target.shape[0], dtype=torch.long)
        outputs = []
        for t in range(target.shape[1]):
            hidden = self.gru(self.embedding(token).relu(), hidden)
            logits = self.out(hidden)
            outputs.append(logits)
            token = torch.where(drawn[t] < self.ratio, target[:, t], logits.argmax(-1))
        return torch.stack(outputs, dim=1)


torch.manual_seed(0)
random.seed(0)
decoder = DecoderRNN()
optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)
fast = torch.compile(decoder, backend="eager")
for it in range(4):
    target = torch.randint(2, 12, (3, 5))
    drawn = torch.tensor([random.random() for _ in range(5)])
    logits = fast(torch.zeros(3, 10), target, drawn)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, f"{loss.item():.4f}")
