"""Sizes are plain integers: dict keys, JSON, math, formatting, ranges and isinstance, whatever the shape."""

import json
import math

import torch

cache = {}


def describe(x):
    rows, columns = x.shape
    key = (rows, columns)
    cache[key] = cache.get(key, 0) + 1
    scale = 1 / math.sqrt(columns)
    steps = [i * rows for i in range(columns)]
    return x * scale, {
        "rows": rows,
        "numel": x.numel(),
        "steps": steps,
        "half": columns // 2,
        "name": f"{rows:03d}",
    }


def halves(x):
    middle = x.size(0) // 2
    return x[:middle], x[middle:], x.stride(), x.dim(), x.size()


for shape in ((2, 3), (4, 3), (5, 7), (1, 1), (2, 3)):
    out, facts = describe(torch.ones(shape))
    print(out.sum().item(), json.dumps(facts), [type(v).__name__ for v in facts.values()])
    left, right, stride, dim, size = halves(torch.arange(float(shape[0])))
    print(left.tolist(), right.tolist(), stride, dim, size, isinstance(size[0], int))
print(cache)
