"""The grid of a camera's pixels is a property that is computed at its first use, and kept.

kind: fell back to eager
advice: ask for the property once

Made after a pattern common in nerfstudio and Hugging Face (functools.cached_property).
"""

from functools import cached_property

import torch
from torch import nn


class Camera:
    def __init__(self, height, width, focal):
        self.height, self.width, self.focal = height, width, focal

    @cached_property
    def grid(self):
        rows, columns = torch.meshgrid(torch.arange(self.height), torch.arange(self.width), indexing="ij")
        x = (columns - self.width / 2) / self.focal
        y = (rows - self.height / 2) / self.focal
        return torch.stack([x, y, torch.ones_like(x)], dim=-1)


class Renderer(nn.Module):
    def __init__(self, camera, samples=4):
        super().__init__()
        self.camera = camera
        self.samples = samples
        self.field = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, pose):
        directions = self.camera.grid @ pose[:, :3].T  # cause
        depths = torch.linspace(0.5, 2.0, self.samples)
        points = pose[:, 3] + directions[..., None, :] * depths[:, None]
        color, density = self.field(points).split([3, 1], dim=-1)
        alpha = 1 - torch.exp(-torch.relu(density) * 0.5)
        weights = alpha * torch.cumprod(1 - alpha + 1e-6, dim=-2)
        return (weights * color.sigmoid()).sum(dim=-2)


torch.manual_seed(0)
renderer = torch.compile(Renderer(Camera(5, 6, 4.0)), backend="eager")
for number in range(3):
    pose = torch.cat([torch.eye(3), torch.full((3, 1), 0.1 * number)], dim=1)
    with torch.no_grad():
        print(number, round(renderer(pose).mean().item(), 4))
