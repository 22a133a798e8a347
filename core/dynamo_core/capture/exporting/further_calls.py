"""Calls with other sizes than the one that a module is exported with, handed to the copy in files.

The copy was made before these calls came. It reads what this very run has written, and nobody else's files.
"""

import os
from collections.abc import Sequence

from .agreement import Call
from .inputs import leaves

_LARGEST = 64 << 20  # bytes of tensors
MOST = 2


def write_call(call: Call, file: str) -> bool:
    """Whether it could be written; it is not where it is large, or holds what cannot be pickled."""
    import torch

    values = [value for _, value in leaves({"": [call.args, call.kwargs]})]
    size = sum(value.nbytes for value in values if isinstance(value, torch.Tensor))
    if size > _LARGEST:
        return False
    try:
        torch.save(tuple(call), file)
        return True
    except Exception:  # whatever the program's own types raise when they are pickled
        return False


def read_calls(files: Sequence[str]) -> list[Call]:
    """Those that were written; the files go, as nobody else is to load them."""
    import torch

    calls = []
    for file in files:
        try:
            args, kwargs = torch.load(file, weights_only=False)
        except Exception:
            continue
        calls.append(Call(args, kwargs))
        os.unlink(file)
    return calls
