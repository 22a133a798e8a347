"""Sentences that a model encodes itself.

kind: recompile limit
advice: before the call

Made after https://github.com/pytorch/pytorch/issues/100455.
"""

import torch

CODES = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz ")}


class Length(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(CODES), 4)

    def forward(self, text):
        ids = [CODES[c] for c in text.lower() if c in CODES]  # cause
        ids = ids[:12] + [0] * (12 - len(ids))
        return self.embed(torch.tensor(ids)).mean(0)


torch.manual_seed(0)
model = torch.compile(Length(), backend="eager")
for number in range(10):
    print(f"{model('line number ' + 'abcdefghij'[number]).sum().item():.4f}")
