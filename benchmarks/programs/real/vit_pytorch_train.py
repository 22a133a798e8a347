"""vit-pytorch: a ViT trained for six steps."""

import torch
from vit_pytorch import ViT

torch.manual_seed(0)
model = ViT(image_size=64, patch_size=16, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128, dropout=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images, labels = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
for step in range(6):
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.3f}")
