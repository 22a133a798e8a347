"""The perplexity of each batch, by a function of numbers.

kind: graph break
advice: torch.exp(x)

Made after a pattern common in training loops of language models (`math.exp(loss)`).
"""

import math

import torch
from torch import nn


class TinyLM(nn.Module):
    def __init__(self, vocab=20, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, idx, targets):
        h = torch.zeros(idx.shape[0], 16)
        logits = []
        for t in range(idx.shape[1]):
            h = self.mix(self.embed(idx[:, t]), h)
            logits.append(self.head(h))
        logits = torch.stack(logits, 1)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


class Evaluator:
    def __init__(self, model):
        self.model = model
        self.history = []

    @torch.compile(backend="eager")
    def step(self, idx, targets):
        logits, loss = self.model(idx, targets)
        ppl = math.exp(loss)  # cause
        right = (logits.argmax(-1) == targets).float().mean()
        return {"loss": loss, "ppl": ppl, "acc": right}


torch.manual_seed(0)
evaluator = Evaluator(TinyLM().eval())
with torch.no_grad():
    for i in range(4):
        data = torch.randint(0, 20, (3, 7))
        out = evaluator.step(data[:, :-1], data[:, 1:])
        print(f"iter {i}: loss {out['loss']:.4f} ppl {out['ppl']:.2f} acc {out['acc']:.2f}")
