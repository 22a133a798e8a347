"""A training loop that compiles nothing itself.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
options: --backend aot_eager
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 1)

    def forward(self, x):
        y = self.first(x).relu()
        scale = y.detach().abs().max().item()  # cause
        return self.second(y / (scale + 1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.ones(2, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
