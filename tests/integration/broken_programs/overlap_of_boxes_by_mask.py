"""The overlap of boxes is written where there is one, by a mask.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after https://github.com/pytorch/vision/pull/9518
"""

import torch
from torch import nn


def _loss_inter_union(boxes1, boxes2):
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    xkis1 = torch.max(x1, x1g)
    ykis1 = torch.max(y1, y1g)
    xkis2 = torch.min(x2, x2g)
    ykis2 = torch.min(y2, y2g)
    intsctk = torch.zeros_like(x1)
    mask = (ykis2 > ykis1) & (xkis2 > xkis1)
    intsctk[mask] = (xkis2[mask] - xkis1[mask]) * (ykis2[mask] - ykis1[mask])  # cause
    unionk = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - intsctk
    return intsctk, unionk


def giou_loss(boxes1, boxes2, eps=1e-7):
    intsctk, unionk = _loss_inter_union(boxes1, boxes2)
    iouk = intsctk / (unionk + eps)
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    area_c = (torch.max(x2, x2g) - torch.min(x1, x1g)) * (torch.max(y2, y2g) - torch.min(y1, y1g))
    miouk = iouk - (area_c - unionk) / (area_c + eps)
    return (1 - miouk).mean()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, feats, target):
        raw = self.fc(feats).sigmoid()
        boxes = torch.cat([raw[:, :2], raw[:, :2] + raw[:, 2:]], dim=1)
        return giou_loss(boxes, target)


torch.manual_seed(0)
head = Head()
opt = torch.optim.SGD(head.parameters(), lr=0.1)
step = torch.compile(head, backend="eager")
for epoch in range(5):
    feats = torch.randn(12, 8)
    corner = torch.rand(12, 2)
    loss = step(feats, torch.cat([corner, corner + 0.4], 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, f"{loss.item():.4f}")
