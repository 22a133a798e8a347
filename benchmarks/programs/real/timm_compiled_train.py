"""timm: a small ViT under the program's own torch.compile, with mixup and label smoothing."""

import numpy
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy

torch.manual_seed(0)
model = torch.compile(
    timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=10, depth=2, pretrained=False)
)
mixup, criterion = Mixup(mixup_alpha=0.8, num_classes=10, label_smoothing=0.1), SoftTargetCrossEntropy()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
numpy.random.seed(0)
for step in range(4):
    images, labels = mixup(torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,)))
    loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.2f}")
