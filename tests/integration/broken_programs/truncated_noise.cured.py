"""Patches are replaced by noise that torch.nn.init makes.

kind: graph break
advice: out of the compiled code

Made after https://github.com/pytorch/pytorch/issues/194768
"""

import torch
from torch import nn


class NoisyMask(nn.Module):
    """Replaces a part of the patches by noise, as masked image modelling does."""

    def __init__(self, width, ratio=0.5, std=0.02):
        super().__init__()
        self.ratio, self.std = ratio, std
        self.token = nn.Parameter(torch.zeros(width))

    def forward(self, patches, order, noise):
        count = int(self.ratio * patches.shape[1])
        masked = torch.zeros(patches.shape[:2], dtype=torch.bool).scatter(1, order[:, :count], True)
        return torch.where(masked[..., None], self.token + noise, patches), masked


class MaskedAutoencoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.patchify = nn.Conv2d(3, width, 4, stride=4)
        self.mask = NoisyMask(width)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.decode = nn.Linear(width, 3 * 16)

    def forward(self, images, order, noise):
        patches = self.patchify(images).flatten(2).transpose(1, 2)
        visible, masked = self.mask(patches, order, noise)
        predicted = self.decode(self.encoder(visible))
        target = nn.functional.unfold(images, 4, stride=4).transpose(1, 2)
        error = (predicted - target).pow(2).mean(-1)
        return (error * masked).sum() / masked.sum()


torch.manual_seed(0)
model = MaskedAutoencoder()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
images = torch.randn(4, 3, 16, 16)
for step in range(4):
    order = torch.stack([torch.randperm(16) for _ in range(4)])
    noise = torch.empty(4, 16, 16).transpose(1, 2)
    nn.init.trunc_normal_(noise, std=model.mask.std)
    loss = compiled(images, order, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
