"""What a generator returns does not reach the `yield from` that waits for it.

An idea of our own.
kind: value
stage: tracing
"""

import torch


def layers(sizes):
    """Pieces of the schedule; the number of them is the answer."""
    count = 0
    for size in sizes:
        yield float(size)
        count += 1
    return count


class Mixer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.outer = torch.nn.Linear(4, 4)

    def weights(self):
        count = yield from layers([1, 2, 4])  # cause
        if count is None:
            count = 10
        yield 1.0 / count

    def forward(self, x):
        x = torch.tanh(self.inner(x))
        total = torch.zeros_like(x)
        for weight in self.weights():
            total = total + x * weight
        y = self.outer(total)
        return y.sum(dim=1)


torch.manual_seed(0)
mixer = torch.compile(Mixer(), backend="eager")
print(mixer(torch.linspace(-1.0, 1.0, 12).reshape(3, 4)).tolist())
