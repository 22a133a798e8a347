"""Each call gets an id of its own, for the log.

kind: recompile
advice: behind the call

Made after a pattern common in serving (requests with ids).
"""

import uuid

import torch

SEEN = []


@torch.compile(backend="eager")
def serve(x):
    y = x.sin()
    SEEN.append(uuid.uuid4())  # cause
    return y.cos()


for _ in range(3):
    print(serve(torch.ones(2)).tolist())
print(len(set(SEEN)))
