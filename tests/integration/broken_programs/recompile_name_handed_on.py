"""The name of a request, which chooses what is computed, and is given back beside what came of it.

kind: recompile
advice: outside
"""

import torch


@torch.compile(backend="eager")
def answered(x, name):
    x = x.clamp(max=1) if name.startswith("debug") else x * 2  # cause
    return {"name": name, "total": x.sin().sum()}


for name in ("debug-1", "request-2", "request-3"):
    answer = answered(torch.ones(2) * 3, name)
    print(answer["name"], answer["total"].item())
