"""An operator of the program's pads rows, and its function for tracing says that it does not.

Planted.
kind: value
stage: tracing
"""

import torch


@torch.library.custom_op("corpus::padded", mutates_args=())
def padded(rows: torch.Tensor, multiple: int) -> torch.Tensor:
    missing = -rows.shape[0] % multiple
    return torch.cat([rows, rows.new_zeros(missing, rows.shape[1])])


@padded.register_fake
def padded_fake(rows, multiple):
    return torch.empty_like(rows)


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.gain = torch.nn.Parameter(torch.tensor(0.5))

    def pooled(self, x):
        x = torch.relu(x)
        x = padded(x, 4)  # cause
        total = x.sum(dim=0)
        return total / x.shape[0]

    def forward(self, x):
        x = self.first(x)
        x = self.pooled(x) * self.gain
        return x.tanh()


torch.manual_seed(0)
pooled = torch.compile(Pooled(), backend="eager")
with torch.no_grad():
    print(pooled(torch.arange(15.0).reshape(5, 3)))
