"""Grad-CAM: a forward hook keeps the features of an inner layer, whose gradient is read afterwards."""

import torch
from torch import nn

torch.manual_seed(0)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU())
        self.classify = nn.Linear(4, 3)

    def forward(self, x):
        return self.classify(self.features(x).mean((2, 3)))


model = ConvNet().eval()
kept = {}


def keep(module, args, output):
    output.retain_grad()
    kept["features"] = output


model.features.register_forward_hook(keep)
for image in torch.randn(2, 1, 1, 8, 8):
    scores = model(image)
    scores[0, scores.argmax()].backward()
    features = kept["features"]
    weights = features.grad.mean((2, 3), keepdim=True)
    print((weights * features).sum(1).relu().detach().sum().item(), features.grad.abs().sum().item())
