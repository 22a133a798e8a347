"""A module counts its calls, and keeps the mean of each in a list.

kind: graph break
advice: behind the call of `Net.forward`
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.means = []

    def forward(self, x):
        y = x.sin()
        self.means.append(y.mean().tolist())  # cause
        return y * 2


net = Net()
step = torch.compile(net, backend="eager")
for number in range(5):
    print(step(torch.full((3,), float(number))).tolist())
print([round(each, 4) for each in net.means])
