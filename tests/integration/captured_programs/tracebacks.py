"""A traceback that the program formats names its own functions in the order in which they were called."""

import traceback

import torch
from torch import nn

torch.manual_seed(0)


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.helper(x) + 1

    def helper(self, x):
        y = self.linear(x)
        raise KeyError("no such head") if y.shape[0] == 2 else ValueError(f"bad batch {y.shape[0]}")


def train(model, x):
    try:
        return model(x)
    except ValueError as error:
        raise RuntimeError("training failed") from error


for batch in (1, 2):
    try:
        train(Broken(), torch.ones(batch, 3))
    except (RuntimeError, KeyError) as error:
        frames = [f.name for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
        print(type(error).__name__, error, frames, repr(error.__cause__))
        print(traceback.format_exception_only(error))
