"""CutMix in a compiled training step: how large the box is and where it lies is drawn by numpy.

kind: graph break
advice: draw the numbers before the call of `step`

Made after https://github.com/clovaai/CutMix-PyTorch/blob/master/train.py
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def rand_bbox(size, lam):
    height, width = size[2], size[3]
    cut_ratio = np.sqrt(1.0 - lam)
    cut_h, cut_w = int(height * cut_ratio), int(width * cut_ratio)
    cy, cx = np.random.randint(height), np.random.randint(width)
    y1, y2 = np.clip(cy - cut_h // 2, 0, height), np.clip(cy + cut_h // 2, 0, height)
    x1, x2 = np.clip(cx - cut_w // 2, 0, width), np.clip(cx + cut_w // 2, 0, width)
    return y1, y2, x1, x2


class Trainer:
    def __init__(self, model, beta=1.0):
        self.model = model
        self.beta = beta

    def step(self, images, targets):
        lam = np.random.beta(self.beta, self.beta)  # cause
        order = torch.arange(images.size(0) - 1, -1, -1)
        y1, y2, x1, x2 = rand_bbox(images.size(), lam)
        images = images.clone()
        images[:, :, y1:y2, x1:x2] = images[order, :, y1:y2, x1:x2]
        logits = self.model(images)
        return lam * F.cross_entropy(logits, targets) + (1 - lam) * F.cross_entropy(logits, targets[order])


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 14 * 14, 10))
    trainer = Trainer(model)
    step = torch.compile(trainer.step, backend="eager")
    for _ in range(4):
        loss = step(torch.rand(8, 3, 16, 16), torch.randint(0, 10, (8,)))
        loss.backward()
        print(round(loss.item(), 3))


main()
