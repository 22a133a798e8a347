"""A detector keeps the best box and drops what is near it, until none is left.

kind: fell back to eager
advice: to Python

Made after a pattern common in detectors (non-maximum suppression in Python).
"""

import torch
from torch import nn


def nms(boxes, scores, threshold):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        rest = order[1:]
        distance = (boxes[best] - boxes[rest]).abs().sum(1)
        order = rest[distance >= threshold]
    return torch.stack(keep)


class Head(nn.Module):
    def __init__(self, channels=8, anchors=12):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.boxes = nn.Linear(channels, anchors * 4)
        self.scores = nn.Linear(channels, anchors)

    def forward(self, images):
        features = self.conv(images).relu().mean((2, 3))
        centre, size = self.boxes(features).view(len(images), -1, 2, 2).unbind(2)
        size = size.abs() + 0.2
        return torch.cat([centre - size, centre + size], -1), self.scores(features).sigmoid()


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()

    def forward(self, images):
        boxes, scores = self.head(images)
        found = []
        for box, score in zip(boxes, scores):
            kept = nms(box, score, 1.5)
            found.append((box[kept], score[kept]))
        return found


torch.manual_seed(0)
detector = Detector().eval()
detector.head.compile(backend="eager")
with torch.no_grad():
    for batch in range(3):
        found = detector(torch.randn(2, 3, 16, 16))
        print(batch, [len(score) for _, score in found], f"{sum(s.sum() for _, s in found):.4f}")
