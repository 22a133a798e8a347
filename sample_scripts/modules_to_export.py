"""Three modules on batches of several sizes: torch.export takes one; a line is in the way of the others."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)

    def forward(self, tokens, mask=None):
        hidden = self.layer(self.embedding(tokens))
        return hidden if mask is None else hidden * mask.unsqueeze(-1)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.strong, self.weak = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, hidden):
        if hidden.sum() > 0:
            return self.strong(hidden)
        return self.weak(hidden)


class Pool(nn.Module):
    def forward(self, hidden):
        return hidden.reshape(4, -1, 16).mean(1)


def main():
    torch.manual_seed(0)
    encoder, gate, pool = Encoder().eval(), Gate().eval(), Pool()
    for batch in (4, 8, 6):
        tokens = torch.randint(0, 50, (batch, 10))
        with torch.no_grad():
            hidden = gate(encoder(tokens, mask=torch.ones(batch, 10)))
            pooled = pool(hidden)
        print(f"batch of {batch}: {pooled.sum().item():.4f}")


if __name__ == "__main__":
    main()
