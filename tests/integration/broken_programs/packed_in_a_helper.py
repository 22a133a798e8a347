"""Sequences are packed by a helper, which is given the recurrent layer.

kind: graph break
advice: end the compiled function

Made after a pattern common in taggers (pack_padded_sequence in a function of its own).
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def run_packed(layer, x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)  # cause
    out, _ = layer(packed)
    return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.layer = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 4)

    def forward(self, tokens, lengths):
        x = self.embed(tokens)
        x = run_packed(self.layer, x, lengths)
        return self.out(x.relu())


torch.manual_seed(0)
model = torch.compile(Tagger(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(model(torch.randint(0, 20, (3, 7)), torch.tensor([7, 5, 3])).sum().item(), 3))
