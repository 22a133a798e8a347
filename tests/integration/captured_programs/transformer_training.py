"""A transformer encoder with masks, trained and then evaluated (its fast path), dropout in between."""

import torch
from torch import nn

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(8, 2)

    def forward(self, tokens):
        padding = tokens == 0
        hidden = self.encoder(self.embed(tokens), src_key_padding_mask=padding)
        return self.out(hidden.masked_fill(padding[..., None], 0).mean(1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    tokens = torch.randint(1, 9, (3, 5 + step % 2))
    tokens[0, 3:] = 0
    loss = nn.functional.cross_entropy(model(tokens), torch.tensor([0, 1, 1]))
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(step, loss.item(), norm.item())
model.eval()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])).tolist())
