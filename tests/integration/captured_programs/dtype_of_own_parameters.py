"""A model asks its own parameters for their dtype and device, and counts those that it has."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        self.second.weight = self.first.weight  # one parameter by two names

    def forward(self, x):
        parameter = next(self.parameters())
        x = x.to(dtype=parameter.dtype, device=parameter.device)
        return self.second(self.first(x)) / len(list(self.parameters()))


torch.manual_seed(0)
net = Net()
for dtype in (torch.float32, torch.float64):
    net.to(dtype)
    out = net(torch.ones(2, 4))
    print(out.dtype, out.sum().item())
net.second.weight = torch.nn.Parameter(net.first.weight.detach() * 2)
print(net(torch.ones(2, 4)).sum().item())
