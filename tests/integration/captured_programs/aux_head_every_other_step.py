"""An auxiliary loss that counts every other step; the gradients are set to zeros, not to None, between."""

import torch
from torch import nn

torch.manual_seed(0)


class WithAuxiliary(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head, self.aux = nn.Linear(5, 10), nn.Linear(10, 3), nn.Linear(10, 3)

    def forward(self, x):
        h = self.stem(x).relu()
        return self.head(h), self.aux(h)


model = WithAuxiliary()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(8, 5), torch.randint(0, 3, (8,))
for step in range(6):
    head, aux = model(x)
    loss = nn.functional.cross_entropy(head, y)
    if step % 2:
        loss = loss + 0.4 * nn.functional.cross_entropy(aux, y)
    loss.backward()
    print(step, loss.item(), [parameter.grad is not None for parameter in model.parameters()])
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
print(model.aux.weight.sum().item())
