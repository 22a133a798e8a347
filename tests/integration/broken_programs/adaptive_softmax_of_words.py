"""A language model with an adaptive softmax, which finds the rows of each group of words.

kind: graph break
advice: end the compiled function

Made after a pattern common in word-level language models (Transformer-XL, fairseq).
"""

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        past = x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]
        return x + self.down(nn.functional.gelu(self.up(self.norm(past))))


class WordModel(nn.Module):
    def __init__(self, words=40, width=16):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mixers = nn.ModuleList(Mixer(width) for _ in range(2))
        self.head = nn.AdaptiveLogSoftmaxWithLoss(width, words, cutoffs=[10, 20])

    def forward(self, tokens, targets):
        hidden = self.embedding(tokens)
        for mixer in self.mixers:
            hidden = mixer(hidden)
        output = self.head(hidden.flatten(0, 1), targets.flatten())  # cause
        return output.loss + 1e-4 * hidden.pow(2).mean()


torch.manual_seed(0)
model = WordModel()
loss_of = torch.compile(model, backend="aot_eager")
for number in range(3):
    words = torch.randint(0, 40, (2, 9))
    loss = loss_of(words[:, :-1], words[:, 1:])
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.01 * weight.grad
            weight.grad = None
    print(number, round(loss.item(), 3))
