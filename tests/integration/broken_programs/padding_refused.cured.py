import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(16, width)
        self.out = nn.Linear(width, 16)

    def _mask(self, attention_mask):
        length = attention_mask.shape[1]
        causal = torch.ones(length, length).tril()
        return causal[None] * attention_mask[:, None]

    def forward(self, tokens, attention_mask):
        x = self.embed(tokens)
        weights = self._mask(attention_mask)
        return self.out(weights @ x / weights.sum(-1, keepdim=True).clamp(min=1))


torch.manual_seed(0)
model = torch.compile(Decoder(), backend="eager")


def decoded(tokens, attention_mask):
    is_padding_right = attention_mask[:, -1].sum().item() != attention_mask.shape[0]
    if is_padding_right:
        raise ValueError("pad on the left")
    return model(tokens, attention_mask)


with torch.no_grad():
    for pad in (0, 1, 2):
        mask = torch.ones(2, 5)
        mask[1, :pad] = 0
        print(round(decoded(torch.arange(10).view(2, 5), mask).sum().item(), 4))
