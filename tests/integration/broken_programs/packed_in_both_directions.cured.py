import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Reader(nn.Module):
    def __init__(self, letters=12, dim=6):
        super().__init__()
        self.embed = nn.Embedding(letters, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, 3)

    def embedded(self, letters):
        return self.embed(letters).tanh()

    def judged(self, hidden):
        return self.head(hidden.transpose(0, 1).flatten(1).relu())

    def forward(self, letters, lengths):
        x = self.before(letters)
        words = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(words)
        return self.after(hidden)


torch.manual_seed(0)
reader = Reader()
reader.before = torch.compile(reader.embedded, backend="eager")
reader.after = torch.compile(reader.judged, backend="eager")
letters = torch.randint(0, 12, (3, 5))
with torch.no_grad():
    for lengths in ((5, 3, 1), (2, 5, 4), (5, 5, 2)):
        print([round(each, 4) for each in reader(letters, torch.tensor(lengths))[0].tolist()])
