"""kornia: augmentation, filters and a feature."""

import kornia
import torch

torch.manual_seed(0)
augment = torch.nn.Sequential(
    kornia.augmentation.RandomHorizontalFlip(p=0.5),
    kornia.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
)
images = torch.rand(2, 3, 32, 32)
for _ in range(3):
    print(f"{augment(images).mean().item():.4f}")
print(f"{kornia.filters.gaussian_blur2d(images, (3, 3), (1.5, 1.5)).std().item():.4f}")
print(f"{kornia.filters.sobel(images).mean().item():.4f}")
print(f"{kornia.feature.harris_response(kornia.color.rgb_to_grayscale(images)).mean().item():.4f}")
