"""Arguments are checked by hand: ValueError, TypeError and KeyError with messages of shapes and types."""

import torch


def attention(q, k, *, heads, mode="full"):
    if q.dim() != 3:
        raise ValueError(f"expected 3 dimensions, got {q.dim()} for {tuple(q.shape)}")
    if q.shape[-1] % heads:
        raise ValueError(f"width {q.shape[-1]} is not divisible by {heads} heads")
    if not isinstance(k, torch.Tensor):
        raise TypeError(f"k is a {type(k).__name__}")
    scale = {"full": 1.0, "half": 0.5}[mode]
    return (q @ k.transpose(-2, -1) * scale).softmax(-1).sum((1, 2))


q = torch.arange(24.0).reshape(2, 3, 4) / 10
for k, heads, mode in ((q, 2, "full"), (q, 3, "full"), (None, 2, "full"), (q, 2, "odd"), (q, 4, "half")):
    try:
        print(attention(q, k, heads=heads, mode=mode).tolist())
    except (ValueError, TypeError, KeyError) as error:
        print(type(error).__name__, error)
try:
    attention(q[0], q, heads=2)
except ValueError as error:
    print(error)
