"""ReduceLROnPlateau, early stopping on a validation loss, and the best weights are restored."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.3)
train_x, valid_x = torch.randn(20, 2), torch.randn(10, 2)


def loss_on(x):
    return nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))


best, best_state, waited = float("inf"), None, 0
for epoch in range(25):
    model.train()
    optimizer.zero_grad()
    loss_on(train_x).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = loss_on(valid_x).item()
    scheduler.step(valid)
    if valid < best:
        best, best_state, waited = valid, copy.deepcopy(model.state_dict()), 0
    else:
        waited += 1
        if waited == 4:
            print("stopped after", epoch)
            break
model.load_state_dict(best_state)
print(f"{best:.4f} {loss_on(valid_x).item():.4f} {optimizer.param_groups[0]['lr']:.4f}")
