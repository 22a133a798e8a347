"""timm: resnet18 trained for four steps on random pictures."""

import timm
import torch

torch.manual_seed(0)
model = timm.create_model("resnet18", num_classes=10, pretrained=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(4):
    images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.2f}")
