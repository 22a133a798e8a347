"""The frame that computes handles what its operations raise: by `except`, `finally`, `with`."""

import contextlib

import torch


class OtherError(Exception):
    """No operation raises it."""


class Note:
    """Prints how the block ended, and keeps an IndexError to itself."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        print("left by", kind and kind.__name__)
        return kind is IndexError


def rows(table, index, *rest, scale=1, **named):
    try:
        picked = table.index_select(0, index) * scale
    except OtherError:
        return None
    except (IndexError, RuntimeError) as error:
        print("picked none:", type(error).__name__, rest, sorted(named))
        return table[:1] * 0
    else:
        return picked + 1


def make(factor):
    offset = torch.ones(3)

    def solve(matrix, /, vector, *, jitter):
        shifted = matrix + jitter * torch.eye(3)
        inner = lambda: shifted * factor  # noqa: E731
        with contextlib.suppress(RuntimeError):
            return torch.linalg.cholesky(shifted) @ vector + offset
        return inner().sum(0)

    return solve


def noted(x, index):
    total = x.sum()
    with Note():
        total = total + x[index].sum()
    return total * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, index):
        self.calls += 1
        return rows(self.linear(x), index, 1, scale=2, name=True).sum()


torch.manual_seed(0)
net, solve = Net(), make(2.0)
x = torch.randn(4, 3)
for index in ([0, 1], [0, 9], [3, 3], [9, 9], [8, 8], [7, 7], [1, 2]):
    loss = net(x, torch.tensor(index))
    print(loss.item(), int(net.calls))
    if loss.requires_grad:
        net.zero_grad()
        loss.backward()
        print(net.linear.weight.grad.sum().item())
for sign in (1.0, -1.0, 1.0, -1.0):
    print(solve(torch.eye(3) * sign, torch.arange(3.0), jitter=0.5))
for index in ([0], [7], [1]):
    print(noted(x, torch.tensor(index)))
