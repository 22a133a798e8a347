import torch


@torch.compile(backend="aot_eager")
def before(x):
    return x.sin()


@torch.compile(backend="aot_eager")
def after(hidden):
    return (hidden * 2).sum()


def model(x):
    hidden = before(x)
    hidden.retain_grad()
    return after(hidden), hidden


x = torch.ones(4, requires_grad=True)
for _ in range(2):
    loss, hidden = model(x)
    loss.backward()
    print(hidden.grad.tolist())
