import torch
from torch import nn


class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, keep):
        every, left = x[None], ~keep[None]
        y = self.attention(every, every, every, key_padding_mask=left, need_weights=False)[0]
        return torch.where(keep[None, :, None], y, 0.0).sum(1)


torch.manual_seed(0)
model = torch.compile(Pruned(), backend="eager")
for _ in range(3):
    x = torch.randn(10, 8)
    print(round(model(x, x[:, 0] > -0.5).sum().item(), 2))
