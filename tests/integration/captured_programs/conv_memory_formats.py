"""Strides of outputs and gradients of convolutions on channels_last and strided inputs."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool, self.up = (
            nn.Conv2d(3, 4, 3, padding=1),
            nn.MaxPool2d(2),
            nn.ConvTranspose2d(4, 2, 2),
        )

    def forward(self, x):
        features = self.conv(x).relu()
        return features, self.up(self.pool(features))


model = Net()
x = torch.randn(2, 3, 6, 6)
for variant in (x, x.to(memory_format=torch.channels_last), x.transpose(2, 3), x[:, :, ::2, ::2]):
    leaf = variant.detach().requires_grad_()
    features, out = model(leaf)
    (features.sum() + out.square().sum()).backward()
    print(features.stride(), out.stride(), leaf.grad.stride(), model.conv.weight.grad.stride())
    print(out.is_contiguous(memory_format=torch.channels_last), out.sum().item())
model = model.to(memory_format=torch.channels_last)
print(model(x)[1].stride(), model.conv.weight.stride())
