import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Identity() for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * 2


net = Net()
compiled = torch.compile(net, backend="eager")
for _ in range(3):
    print(compiled(torch.ones(2)).tolist())
