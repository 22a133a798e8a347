"""A DenseNet classifying noise: torchvision's where it can be imported, else a compact one."""

import sys

import torch
from torch import nn


class DenseLayer(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, 4 * growth, kernel_size=1, bias=False),
            nn.BatchNorm2d(4 * growth),
            nn.ReLU(),
            nn.Conv2d(4 * growth, growth, kernel_size=3, padding=1, bias=False),
        )

    def forward(self, x):
        return torch.cat([x, self.layers(x)], dim=1)


def transition(channels):
    return nn.Sequential(
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, channels // 2, kernel_size=1, bias=False),
        nn.AvgPool2d(2),
    )


class CompactDenseNet(nn.Module):
    def __init__(self, growth=8, blocks=(2, 2, 2), classes=10):
        super().__init__()
        channels = 2 * growth
        layers = [nn.Conv2d(3, channels, kernel_size=3, stride=2, padding=1, bias=False)]
        for index, depth in enumerate(blocks):
            if index > 0:
                layers.append(transition(channels))
                channels //= 2
            for _ in range(depth):
                layers.append(DenseLayer(channels, growth))
                channels += growth
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU())
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(2, 3)))


def build_model():
    try:
        from torchvision.models import densenet121
    except (
        ImportError,
        RuntimeError,
    ) as error:  # a torchvision built for another torch: RuntimeError
        reason = str(error).splitlines()[0]
        print(
            f"torchvision's DenseNet is not available ({reason}): using a compact one",
            file=sys.stderr,
        )
        return CompactDenseNet()
    return densenet121(num_classes=10)


def main():
    torch.manual_seed(0)
    model = build_model().eval()
    images = torch.randn(4, 3, 32, 32)
    with torch.no_grad():
        logits = model(images)
    print(f"sum {logits.sum().item():.4f}, classes {logits.argmax(dim=1).tolist()}")


if __name__ == "__main__":
    main()
