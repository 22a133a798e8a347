"""A convolution, for which torch checks the range of the batch, behind a line that uses the batch.

kind: recompile
advice: pad a smaller input
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)

    def forward(self, images):  # cause
        centred = images - images.mean()
        return self.conv(centred).relu()


torch.manual_seed(0)
net = Net().eval()
forward = torch.compile(net, backend="eager", dynamic=True)
images = torch.rand(58, 1, 12, 12)
with torch.no_grad():
    for start in range(0, 58, 16):
        print(round(forward(images[start : start + 16]).abs().mean().item(), 2) > 0)
