"""detect_anomaly raises where the backward makes a NaN, with eager's message."""

import torch

torch.manual_seed(0)


def distance(a, b):
    return ((a - b).pow(2).sum(-1)).sqrt().sum()


a = torch.zeros(2, 3, requires_grad=True)
distance(a, torch.ones(2, 3)).backward()
print(a.grad.tolist())
import warnings  # noqa: E402

warnings.simplefilter("ignore")
with torch.autograd.detect_anomaly():
    try:
        distance(a, torch.zeros(2, 3)).backward()
        print("no anomaly")
    except RuntimeError as error:
        print(type(error).__name__, error)
