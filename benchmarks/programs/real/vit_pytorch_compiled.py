"""vit-pytorch: SimpleViT compiled by the program with fullgraph=True."""

import torch
from vit_pytorch import SimpleViT

torch.manual_seed(0)
model = torch.compile(
    SimpleViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=2, mlp_dim=64).eval(),
    fullgraph=True,
)
with torch.no_grad():
    for batch in (2, 3):
        print(f"{model(torch.randn(batch, 3, 32, 32)).mean().item():.4f}")
