import uuid

import torch

SEEN = []


@torch.compile(backend="eager")
def serve(x):
    y = x.sin()
    return y.cos()


for _ in range(3):
    print(serve(torch.ones(2)).tolist())
    SEEN.append(uuid.uuid4())
print(len(set(SEEN)))
