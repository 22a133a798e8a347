import torch
from torch import nn
from torch.nn import functional

try:
    from flash_attn_interface_of_tomorrow import attention
except ImportError:
    attention = None


class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)

    def forward(self, x):
        q, k, v = self.mix(x).chunk(3, -1)
        if attention is not None:
            return attention(q, k, v)
        return functional.scaled_dot_product_attention(q, k, v)


torch.manual_seed(0)
model = torch.compile(nn.Sequential(Attention(), Attention()), backend="eager")
with torch.no_grad():
    for _ in range(2):
        print(round(model(torch.ones(1, 4, 8)).sum().item(), 4))
