"""Parameters are updated in the backward, by a hook of each, and their gradients dropped."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def update(parameter):
    with torch.no_grad():
        parameter -= 0.1 * parameter.grad
    parameter.grad = None


for each in model.parameters():
    each.register_post_accumulate_grad_hook(update)


@torch.compile(backend="aot_eager")
def loss_of(x):
    return model(x).pow(2).mean()


x = torch.randn(16, 4)
for _ in range(4):
    loss = loss_of(x)
    loss.backward()
    print(f"{loss.item():.4f}")
