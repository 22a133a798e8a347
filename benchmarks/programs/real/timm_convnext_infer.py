"""timm: convnext_atto on batches of three sizes, as its README's inference."""

import timm
import torch

torch.manual_seed(0)
model = timm.create_model("convnext_atto", pretrained=False).eval()
with torch.no_grad():
    for batch in (1, 2, 4, 1):
        print(batch, model(torch.randn(batch, 3, 64, 64)).argmax(-1).shape)
