"""A model whose forward is wrapped, as those of Hugging Face are.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import functools

import torch


def can_return_tuple(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        output = function(self, *args, **kwargs)
        return output

    return wrapper


class TinyModel(torch.nn.Module):
    @can_return_tuple
    def forward(self, x):
        scale = x.max().item()  # cause
        return x / scale


print(torch.compile(TinyModel(), backend="eager")(torch.ones(2)).tolist())
