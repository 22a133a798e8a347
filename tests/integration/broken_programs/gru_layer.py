"""A GRU called from a function.

kind: fell back to eager
advice: allow_rnn
"""

import torch

torch.manual_seed(0)
gru = torch.nn.GRU(3, 4)


@torch.compile(backend="eager")
def encoded(x):
    output, hidden = gru(x * 2)  # cause
    return output.sum() + hidden.sum()


print(encoded(torch.ones(5, 1, 3)).item())
