import torch


class Attention(torch.nn.Module):
    def __init__(self, width=4, longest=16):
        super().__init__()
        self.keys = torch.zeros(1, 1, longest, width)
        self.keys[..., 0, :] = 1.0
        self.count = torch.tensor([1])

    def forward(self, query):
        self.keys.index_copy_(2, self.count, query)
        self.count = self.count + 1
        is_filled = torch.arange(self.keys.shape[2]) < self.count
        return torch.nn.functional.scaled_dot_product_attention(query, self.keys, self.keys, is_filled[None])


attention = torch.compile(Attention(), backend="eager")
torch.manual_seed(0)
for _ in range(4):
    print(round(attention(torch.rand(1, 1, 1, 4)).sum().item(), 4))
