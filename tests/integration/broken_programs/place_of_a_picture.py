"""Where a picture stands among the tokens is looked up in a list of them.

kind: graph break
advice: leave the list to Python

Made after https://github.com/pytorch/pytorch/issues/173915
"""

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)

    def forward(self, tokens):
        x = self.embed(tokens)
        words = tokens.tolist()  # cause
        begin = words.index(9)
        place = torch.arange(len(words)) - begin
        return (x * place[:, None].cos()).sum()


torch.manual_seed(0)
model = torch.compile(Positions(), backend="eager")
for tokens in ((1, 2, 9, 4), (5, 9, 6, 7), (1, 3, 9, 2)):
    print(round(model(torch.tensor(tokens)).item(), 4))
