import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)

    def forward(self, images):
        centred = images - images.mean()
        return self.conv(centred).relu()


torch.manual_seed(0)
net = Net().eval()
forward = torch.compile(net, backend="eager", dynamic=True)
images = torch.rand(64, 1, 12, 12)
with torch.no_grad():
    for start in range(0, 64, 16):
        print(round(forward(images[start : start + 16]).abs().mean().item(), 2) > 0)
