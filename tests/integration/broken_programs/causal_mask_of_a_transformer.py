"""A model gives `nn.Transformer` a causal mask, whose values it then compares with those of one.

kind: graph break
advice: tgt_is_causal=True

Made after a pattern common in translation models.
"""

import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, words=11, width=8):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.core = nn.Transformer(width, 2, 1, 1, 16, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        decoded = self.core(  # cause
            self.embedding(source),
            self.embedding(target),
            tgt_mask=mask,
        )
        return self.head(decoded)


torch.manual_seed(0)
model = torch.compile(Translator(), backend="eager")
source, target = torch.randint(0, 11, (3, 6)), torch.randint(0, 11, (3, 5))
loss = nn.functional.cross_entropy(model(source, target).flatten(0, 1), target.flatten())
loss.backward()
print(round(loss.item(), 4))
