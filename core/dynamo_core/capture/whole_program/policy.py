"""Which frames are taken when the program does not compile for itself.

Taking every frame drowns real programs: model construction and weight initialisation alone give hundreds of
frames and breaks. A frame is worth taking when it computes on tensors that it is given, and is either a
module's `forward` or the program's own code.
"""

import dis
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..frames.program_files import is_own
from ..frames.source import CodeObjects, is_resumed

if TYPE_CHECKING:
    from torch._dynamo.types import DynamoFrameType

_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ITEMS_LOOKED_AT = 32
_DEPTH_LOOKED_AT = 2
_OF_TENSORS = frozenset({"grad", "data"})

NEVER, NOT_NOW, TAKE, NEVER_BELOW = "never", "not now", "take", "never below"


class Policy:
    """Decides frame by frame. `kind` is `auto`, `modules`, `functions` or `all`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._left_to_eager = CodeObjects()

    def leave_to_eager(self, *codes: CodeType) -> None:
        """These run eager from now on; modules that they call count as called by nobody."""
        for code in codes:
            self._left_to_eager.add(code)

    def verdict(self, frame: "DynamoFrameType") -> str:
        """TAKE it; NOT_NOW, for what it was given; NEVER, for its code; NEVER_BELOW, nor its callees."""
        import torch

        code: CodeType = frame.f_code
        name = code.co_name.rpartition(".")[2]  # a copy of a method for each class may be named after it
        if code in self._left_to_eager:
            return NEVER
        if self._kind == "all" or is_resumed(code):
            return TAKE
        if code.co_flags & _GENERATOR or (name.startswith("<") and name != "<lambda>"):
            return NEVER
        own = is_own(code.co_filename) and not _is_made_by_library(code, frame.f_globals)
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
        if is_forward and is_torch_module_file(code.co_filename) and not self._is_outermost_call(first):
            return NOT_NOW
        if torch.utils.data.get_worker_info() is not None:  # a DataLoader's worker prepares data
            return NEVER
        if not _hold_a_tensor(arguments, _DEPTH_LOOKED_AT) or _is_under_a_transform():
            return NOT_NOW
        if is_forward and _is_uninitialised(first):
            return NOT_NOW
        if own and _assigns_to_tensors(code):
            return NEVER
        return NOT_NOW if _hold_a_tensor(arguments, _DEPTH_LOOKED_AT, _is_subclass) else TAKE

    def _is_outermost_call(self, module: Any) -> bool:
        """Whether no other module is being called, but for those that only distribute one (DDP and the like).

        What lies around a frame that was given up does not count; a single op (a Linear) does not pay there.
        """
        import torch

        call_impl = torch.nn.Module._call_impl.__code__
        calls = 0
        frame: Any = sys._getframe(2)
        while frame is not None and calls < 2:
            if frame.f_code is call_impl:
                package = type(frame.f_locals.get("self")).__module__
                calls += not package.startswith(("torch.nn.parallel", "torch.distributed"))
            elif frame.f_code in self._left_to_eager:
                return _holds_more_than_an_op(module)
            frame = frame.f_back
        return calls < 2


def is_torch_module_file(file: str) -> bool:
    """Whether `file` is one of torch's own modules (`Linear`, `Sequential`, losses …).

    Their code is shared by all instances, so only outermost calls are worth a compile of their own.
    """
    return "/torch/nn/modules/" in file


def _is_made_by_library(code: CodeType, names: Mapping[str, Any]) -> bool:
    """Whether a library wrote this code, in memory or as a module of its package in some other folder."""
    module = names.get("__name__")
    if code.co_filename == "<string>":
        return module != "__main__"
    package = sys.modules.get(module.partition(".")[0]) if isinstance(module, str) else None
    file = getattr(package, "__file__", None)
    return isinstance(file, str) and not is_own(file)


def _arguments(code: CodeType, values: Any) -> list[Any]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return [values[name] for name in code.co_varnames[:count] if name in values]


def _holds_more_than_an_op(module: Any) -> bool:
    import torch

    return bool(module._modules) or isinstance(module, torch.nn.RNNCellBase)


def _is_special(name: str, first: Any) -> bool:
    """Methods that torch or Python calls at odd moments: not where a user would put torch.compile."""
    import torch

    if name.startswith("__") and name.endswith("__") and name != "__call__":
        return True
    return issubclass(type(first), torch.autograd.function.FunctionCtx)


def _is_subclass(kind: type) -> bool:
    """Whether tensors of this type see each operation: compiled code would not tell them of all."""
    import torch

    return issubclass(kind, torch.Tensor) and not (
        kind is torch.Tensor
        or (
            kind.__torch_function__ is torch._C._disabled_torch_function_impl
            and kind.__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
        )
    )


def _assigns_to_tensors(code: CodeType) -> bool:
    """Whether it sets a tensor's gradient or data: after `p -= …`, Dynamo loses `p.grad = None` (2.13)."""
    if not _OF_TENSORS.intersection(code.co_names):
        return False
    return any(
        each.opname == "STORE_ATTR" and each.argval in _OF_TENSORS for each in dis.get_instructions(code)
    )


def _is_uninitialised(module: Any) -> bool:
    """Whether a lazy module in it is still to draw its parameters: while compiling, it would draw others."""
    import torch

    return any(
        isinstance(each, torch.nn.modules.lazy.LazyModuleMixin) for each in torch.nn.Module.modules(module)
    )


def _is_under_a_transform() -> bool:
    """Whether a backward makes the call, or `torch.func`, forward-mode AD or a mode sees into it."""
    import torch

    if torch._C._current_graph_task_id() != -1:  # a hook: what it does to gradients comes at its own moment
        return True
    if torch._C._functorch.peek_interpreter_stack() is not None or torch._C._len_torch_dispatch_stack():
        return True
    if torch.autograd.forward_ad._current_level >= 0:  # a dual tensor, whose tangent would be lost
        return True
    if torch.nn.modules.module._has_any_global_hook():  # they see each module that is called
        return True
    modes = (torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack()))
    return any(type(mode).__module__ != "torch.utils._device" for mode in modes)


def _is_tensor(kind: type) -> bool:
    import torch

    return issubclass(kind, torch.Tensor)


def _hold_a_tensor(values: Iterable[Any], depth: int, is_wanted: Callable[[type], bool] = _is_tensor) -> bool:
    """Whether one of `values` is a tensor of a type that is wanted or, to `depth`, holds one.

    Nothing here runs the values' own code: types are compared, not `__class__`, and containers are walked by
    the built-in types' methods. A lazy proxy stays unresolved.
    """
    for value in values:
        kind = type(value)
        if is_wanted(kind):
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
        if _hold_a_tensor(islice(parts, _ITEMS_LOOKED_AT), depth - 1, is_wanted):
            return True
    return False
