import torch


class Encoding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        length = x.shape[0]
        if length not in self.known:
            self.known[length] = torch.arange(length).float().sin()
        return added(x, self.known[length])


@torch.compile(backend="eager")
def added(x, encoding):
    return x + encoding


encoding = Encoding()
for length in range(3, 15):
    print(round(encoding(torch.ones(length)).sum().item(), 4))
