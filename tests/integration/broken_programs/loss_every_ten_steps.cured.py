import torch
import torch.nn.functional as F
from torch import nn

step = 0
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


@torch.compile(backend="eager")
def loss_fn(x, y):
    prediction = model(x)
    loss = F.mse_loss(prediction, y)
    return loss + 0.001 * prediction.abs().mean(), loss


for _ in range(12):
    x = torch.randn(16, 10)
    loss, shown = loss_fn(x, x.sum(1, keepdim=True))
    step += 1
    if step % 2 == 0:
        print(f"step {step}: loss {shown.item():.4f}")
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(step)
