"""Which frames are taken when the program does not compile for itself.

Taking every frame drowns real programs: model construction and weight initialisation alone give hundreds of
frames and breaks. A frame is worth taking when it computes on tensors that it is given, and is either a
module's `forward` or the program's own code.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from types import CodeType
from typing import Any

from .program_files import is_own

_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RESUME_PREFIX = "torch_dynamo_resume_in_"  # torch/_dynamo/resume_execution.py, 2.8 to 2.15
_ITEMS_LOOKED_AT = 32
_DEPTH_LOOKED_AT = 2

NEVER, NOT_NOW, TAKE, NEVER_BELOW = "never", "not now", "take", "never below"


class Policy:
    """Decides frame by frame. `kind` is `auto`, `modules`, `functions` or `all`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def verdict(self, frame: Any) -> str:
        """TAKE it; NOT_NOW, for what it was given; NEVER, for its code; NEVER_BELOW, nor its callees."""
        import torch

        code: CodeType = frame.f_code
        name = code.co_name
        if self._kind == "all" or name.startswith(_RESUME_PREFIX):
            return TAKE
        if code.co_flags & _GENERATOR or (name.startswith("<") and name != "<lambda>"):
            return NEVER
        own = is_own(code.co_filename) and not (
            code.co_filename == "<string>" and frame.f_globals.get("__name__") != "__main__"
        )
        is_constructor = name == "__init__"
        if not (own or name == "forward" or is_constructor):
            return NEVER
        arguments = _arguments(code, frame.f_locals)
        if not arguments:
            return NEVER
        first = arguments[0]
        if is_constructor:
            return NEVER_BELOW if issubclass(type(first), torch.nn.Module) else NEVER
        is_forward = name == "forward" and issubclass(type(first), torch.nn.Module)
        wanted = (is_forward and self._kind != "functions") or (own and self._kind != "modules")
        if not wanted:
            return NEVER
        if not is_forward and _is_special(name, first):
            return NEVER
        if is_forward and is_torch_module_file(code.co_filename) and not _is_outermost_module_call():
            return NOT_NOW
        if torch.utils.data.get_worker_info() is not None:  # a DataLoader's worker prepares data
            return NEVER
        return TAKE if _hold_a_tensor(arguments, _DEPTH_LOOKED_AT) else NOT_NOW


def is_torch_module_file(file: str) -> bool:
    """Whether `file` is one of torch's own modules (`Linear`, `Sequential`, losses …).

    Their code is shared by all instances, so only outermost calls are worth a compile of their own.
    """
    return "/torch/nn/modules/" in file


def _is_outermost_module_call() -> bool:
    """Whether no other module is being called, but for those that only distribute one (DDP and the like)."""
    import torch

    call_impl = torch.nn.Module._call_impl.__code__
    calls = 0
    frame: Any = sys._getframe(2)
    while frame is not None and calls < 2:
        if frame.f_code is call_impl:
            package = type(frame.f_locals.get("self")).__module__
            calls += not package.startswith(("torch.nn.parallel", "torch.distributed"))
        frame = frame.f_back
    return calls < 2


def _arguments(code: CodeType, values: Any) -> list[Any]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return [values[name] for name in code.co_varnames[:count] if name in values]


def _is_special(name: str, first: Any) -> bool:
    """Methods that torch or Python calls at odd moments: not where a user would put torch.compile."""
    import torch

    if name.startswith("__") and name.endswith("__") and name != "__call__":
        return True
    return issubclass(type(first), torch.autograd.function.FunctionCtx)


def _hold_a_tensor(values: Iterable[Any], depth: int) -> bool:
    """Whether one of `values` is a tensor or, to `depth`, holds one.

    Nothing here runs the values' own code: types are compared, not `__class__`, and containers are walked by
    the built-in types' methods. A lazy proxy stays unresolved.
    """
    import torch

    for value in values:
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            return True
        if depth == 0:
            continue
        parts: Iterator[Any] = iter(())
        if issubclass(kind, dict):
            parts = iter(dict.values(value))
        elif issubclass(kind, list):
            parts = list.__iter__(value)
        elif issubclass(kind, tuple):
            parts = tuple.__iter__(value)
        if _hold_a_tensor(islice(parts, _ITEMS_LOOKED_AT), depth - 1):
            return True
    return False
