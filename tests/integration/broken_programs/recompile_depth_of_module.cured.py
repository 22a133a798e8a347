import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 1

    def forward(self, x):
        for _ in range(self.depth):
            x = doubled(x)
        return x


@torch.compile(backend="eager")
def doubled(x):
    return x * 2


net = Net()
for depth in (1, 2, 3, 4):
    net.depth = depth
    print(net(torch.ones(2)).tolist())
