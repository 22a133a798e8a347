"""Frames that look a tensor up in a dict or a set are left to eager.

Dynamo hashes a tensor by its stand-in while tracing, and does not guard on which tensor it is: compiled for
one parameter, `state[parameter]` gives that one's value for every other parameter. Source:
torch/_dynamo/variables/hashable.py (HashableTracker), before torch 2.13 in dicts.py.
"""

import importlib
from typing import Any


def leave_tensor_keys_to_eager() -> None:
    """Let Dynamo skip frames that look tensors up in a dict or a set, from here on in this process."""
    from torch._dynamo.exc import SkipFrame

    tracker = _tracker_class()
    original = tracker.__init__

    def __init__(self: Any, vt: Any) -> None:
        if _is_tensor(vt):
            raise SkipFrame(
                "left to eager: it looks up a tensor in a dict or a set, which torch.compile mistakes"
            )
        original(self, vt)

    tracker.__init__ = __init__


def _tracker_class() -> Any:
    for module, names in (
        ("torch._dynamo.variables.hashable", ("HashableTracker",)),
        ("torch._dynamo.variables.dicts", ("HashableTracker", "_HashableTracker")),
    ):
        try:
            found: Any = importlib.import_module(module)
        except ImportError:
            continue
        for owner in (found, getattr(found, "ConstDictVariable", None)):
            for name in names:
                if hasattr(owner, name):
                    return getattr(owner, name)
    raise AttributeError("torch._dynamo has no HashableTracker")


def _is_tensor(variable: Any) -> bool:
    import torch
    from torch._dynamo.variables import LazyVariableTracker, TensorVariable

    if isinstance(variable, LazyVariableTracker) and not variable.is_realized():
        return isinstance(variable.peek_value(), torch.Tensor)
    return isinstance(variable.realize(), TensorVariable)
