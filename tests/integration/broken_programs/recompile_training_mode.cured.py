import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(x) * 2


net = Net()
compiled = torch.compile(net, backend="eager")
net.eval()
print(compiled(torch.ones(4)).tolist())
print(compiled(torch.ones(4)).tolist())
