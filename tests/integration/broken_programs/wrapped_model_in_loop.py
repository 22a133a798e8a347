"""A wrapper around forward, as those of Hugging Face have, runs eager for a break in a loop.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
title: TinyModel.forward
"""

import functools

import torch


def can_return_tuple(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class TinyModel(torch.nn.Module):
    @can_return_tuple
    def forward(self, x):
        for _ in range(2):
            x = x / x.max().item()  # cause
        return x


print(torch.compile(TinyModel(), backend="eager")(torch.ones(2)).tolist())
