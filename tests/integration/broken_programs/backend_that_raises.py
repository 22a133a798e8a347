"""The backend raises, and the program goes on without.

kind: compiler error
advice: correct the backend
"""

import torch


def broken(graph, example_inputs):
    raise ValueError("no such operator")  # cause


@torch.compile(backend=broken)
def model(x):
    return x.sin().cos()


try:
    print(model(torch.ones(2)).tolist())
except Exception:
    print(torch.ones(2).sin().cos().tolist())
