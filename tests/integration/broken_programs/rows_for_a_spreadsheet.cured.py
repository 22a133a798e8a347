"""The same, cured."""

import csv
import io

import torch
from torch import nn


class CsvTrainer:
    def __init__(self, model, file):
        self.model = model
        self.writer = csv.writer(file)
        self.writer.writerow(["step", "loss"])

    def step(self, tokens, targets):
        logits = self.model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        penalty = sum(weight.pow(2).sum() for weight in self.model.parameters())
        return loss + 1e-3 * penalty, loss


class Tagger(nn.Module):
    def __init__(self, words=20, width=8, tags=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.out = nn.Linear(width, tags)

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        hidden = hidden + self.mix(hidden.transpose(1, 2)).transpose(1, 2)
        return self.out(torch.tanh(hidden))


torch.manual_seed(0)
file = io.StringIO()
trainer = CsvTrainer(Tagger(), file)
step = torch.compile(trainer.step, backend="eager")
optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.1)
tokens, targets = torch.randint(0, 20, (3, 7)), torch.randint(0, 4, (3, 7))
for number in range(4):
    optimizer.zero_grad()
    loss, entropy = step(tokens, targets)
    trainer.writer.writerow([number, round(entropy.item(), 3)])
    loss.backward()
    optimizer.step()
print(file.getvalue())
