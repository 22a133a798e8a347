import logging

import torch
from torch import nn

logging.basicConfig(level=logging.INFO)
LOGGER = logging.getLogger("detector")


class ScoreHead(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.cls = nn.Linear(width, classes)
        self.box = nn.Linear(width, 4)

    def forward(self, features):
        scores = self.cls(features).sigmoid()
        boxes = self.box(features).exp()
        return scores.max(dim=-1).values, boxes, scores


class Detector(nn.Module):
    def __init__(self, width=6, classes=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(width, width), nn.SiLU())
        self.head = ScoreHead(width, classes)

    def forward(self, x):
        best, boxes, scores = self.head(self.trunk(x))
        return best[:, None] * boxes, scores


torch.manual_seed(0)
detector = torch.compile(Detector(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        out, scores = detector(torch.randn(5, 6))
        LOGGER.debug(f"scores between {scores.min():.2f} and {scores.max():.2f}")
        print(round(out.sum().item(), 4))
