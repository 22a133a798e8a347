import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.means = []

    def forward(self, x):
        y = x.sin()
        return y * 2, y.mean()


net = Net()
step = torch.compile(net, backend="eager")
for number in range(5):
    result, mean = step(torch.full((3,), float(number)))
    net.means.append(mean.tolist())
    print(result.tolist())
print([round(each, 4) for each in net.means])
