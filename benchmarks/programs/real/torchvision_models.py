"""torchvision: shufflenet and a segmentation model, inference."""

import torch
import torchvision

torch.manual_seed(0)
net = torchvision.models.shufflenet_v2_x0_5(num_classes=10).eval()
segment = torchvision.models.segmentation.lraspp_mobilenet_v3_large(
    weights=None, weights_backbone=None, num_classes=5
).eval()
with torch.inference_mode():
    print(f"{net(torch.randn(2, 3, 64, 64)).sum().item():.3f}")
    print(f"{segment(torch.randn(1, 3, 64, 64))['out'].mean().item():.4f}")
