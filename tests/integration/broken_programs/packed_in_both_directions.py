"""Words of several lengths are read in both directions, and the last states are what counts.

kind: graph break
advice: in front of `pack_padded_sequence`

Made after https://github.com/pytorch/pytorch/issues/162375
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Reader(nn.Module):
    def __init__(self, letters=12, dim=6):
        super().__init__()
        self.embed = nn.Embedding(letters, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, 3)

    def forward(self, letters, lengths):
        x = self.embed(letters).tanh()
        words = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)  # cause
        _, (hidden, _) = self.lstm(words)
        return self.head(hidden.transpose(0, 1).flatten(1).relu())


torch.manual_seed(0)
reader = torch.compile(Reader(), backend="eager")
letters = torch.randint(0, 12, (3, 5))
with torch.no_grad():
    for lengths in ((5, 3, 1), (2, 5, 4), (5, 5, 2)):
        print([round(each, 4) for each in reader(letters, torch.tensor(lengths))[0].tolist()])
