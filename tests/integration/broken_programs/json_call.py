"""A call of `json`, which is partly in C.

kind: graph break
advice: json.dumps
"""

import json

import torch


@torch.compile(backend="eager")
def keyed(x, settings):
    y = x.sin()
    key = json.dumps(settings)  # cause
    return y * len(key)


print(keyed(torch.ones(2), {"width": 3}).tolist())
