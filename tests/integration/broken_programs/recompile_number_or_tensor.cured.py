"""A temperature is a number while the model warms up, and a tensor behind that: cured."""

import torch
import torch.nn.functional as F
from torch import nn


@torch.compile(backend="eager")
def contrastive(image, text, temperature):
    image, text = F.normalize(image, dim=-1), F.normalize(text, dim=-1)
    logits = image @ text.t() / temperature
    labels = torch.arange(logits.shape[0])
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(12, 8), nn.Linear(6, 8)
        self.register_buffer("log_temperature", torch.tensor(-1.0))

    def loss(self, batch, warm_up):
        temperature = 0.5 if warm_up else self.log_temperature.exp()
        return contrastive(self.image(batch[0]), self.text(batch[1]), torch.as_tensor(temperature))


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    loss = model.loss((torch.randn(8, 12), torch.randn(8, 6)), warm_up=epoch < 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
