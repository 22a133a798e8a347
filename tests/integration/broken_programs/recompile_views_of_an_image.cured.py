"""The same, cured."""

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=16, prototypes=8):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 4, stride=4)
        self.block = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, prototypes)

    def forward(self, view):
        tokens = self.embed(view).flatten(2).mean(2)
        tokens = tokens + self.block(tokens)
        return self.head(nn.functional.normalize(tokens, dim=-1))


def views_of(images, count, generator):
    noise = [torch.randn(images.shape, generator=generator) for _ in range(count)]
    return [images + 0.1 * each for each in noise]


def encode(views):
    return torch.cat([encode_one(view) for view in views])


def agreement(student, teacher, batch, temperature=0.1):
    targets = (teacher / temperature).softmax(-1)[:batch]
    predictions = (student / temperature).log_softmax(-1).view(-1, batch, student.shape[-1])
    return -(targets * predictions).sum(-1).mean()


torch.manual_seed(0)
backbone = Backbone()
encode_one = torch.compile(backbone, backend="eager")
generator = torch.Generator().manual_seed(0)
images = torch.randn(2, 3, 16, 16, generator=generator)
for extra in (2, 4, 2):
    with torch.no_grad():
        teacher = encode(views_of(images, 2, generator))
    with torch.no_grad():
        student = encode(views_of(images, 2 + extra, generator))
    print(extra, round(agreement(student, teacher, 2).item(), 3))
