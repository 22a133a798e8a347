import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)

    def forward(self, tokens, begin):
        x = self.embed(tokens)
        place = torch.arange(tokens.shape[0]) - begin
        return (x * place[:, None].cos()).sum()


torch.manual_seed(0)
model = torch.compile(Positions(), backend="eager")
for tokens in ((1, 2, 9, 4), (5, 9, 6, 7), (1, 3, 9, 2)):
    print(round(model(torch.tensor(tokens), torch.tensor(tokens.index(9))).item(), 4))
