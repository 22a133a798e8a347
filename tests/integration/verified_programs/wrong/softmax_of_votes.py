"""The softmax of whole numbers is no error, and all zeros.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch


class Ballot(torch.nn.Module):
    def __init__(self, parties):
        super().__init__()
        self.register_buffer("seats", torch.zeros(parties, dtype=torch.int64))
        self.parties = parties

    def counted(self, votes):
        marks = torch.nn.functional.one_hot(votes, self.parties)
        return marks.sum(0)

    def shares(self, counts):
        counts = counts + self.seats
        return torch.softmax(counts, 0)  # cause

    def forward(self, votes):
        counts = self.counted(votes)
        shares = self.shares(counts)
        best = shares.argmax()
        return shares, best


model = torch.compile(Ballot(3), backend="aot_eager_decomp_partition")
try:
    print([each.tolist() for each in model(torch.tensor([0, 2, 2, 1]))])
except NotImplementedError as error:
    print(type(error).__name__)
