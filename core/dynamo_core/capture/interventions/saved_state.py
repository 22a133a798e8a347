"""What a call of the program can reach, kept as it is, so that it can be put back in the same process.

Where the process cannot be copied, a call is made in eager first and what it changed is put back
(`eager_first.py`). What cannot be put back, such as an iterator or an open file, is refused before the call.
Nothing here runs the values' own code.

Source: torch/autograd/grad_mode.py (_unsafe_preserve_version_counter), 2.8 to 2.15.
"""

import datetime
import decimal
import functools
import inspect
import logging
import operator
import os
import random
import re
import sys
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

from ..errors import text_of
from ..frames.program_files import is_own
from .fork_server import CannotTry, TooLittleMemory
from .observed_state import functions_reached, globals_in, is_own_class

_MOST_VALUES = 100_000
_WORD = object.__basicsize__ // 2
_MISSING = object()
_CACHED = functools._lru_cache_wrapper
_PLAIN = (int, float, complex, bool, str, bytes, type(None), range, slice, type(...), type(NotImplemented))
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
# What has no state of its own, or one that a call leaves as it was.
_STATELESS = (
    *(CodeType, GenericAlias, MappingProxyType, re.Pattern, weakref.ref, property, staticmethod, classmethod),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, logging.Logger),
    *(operator.attrgetter, operator.itemgetter, operator.methodcaller, *_LOCKS),
    # Of a class: Python 3.14 has them where a closure can reach.
    *(GetSetDescriptorType, MemberDescriptorType),
)
_CONTAINERS = (list, OrderedDict, defaultdict, dict, set, deque, bytearray)
_FROZEN = (tuple, frozenset, BaseException, *_PLAIN[:6])
_PARTS_OF_AN_OPERATOR = ("_init_fn", "_setup_context_fn", "_backward_fn")
_OF_THE_COMPILER = (
    "torch._dynamo",
    "torch._inductor",
    "torch._functorch",
    "torch._library",
    "torch._ops",
    "dynamo_core",
)


class SavedState:
    """The state as it is now. Raises CannotTry where something is within reach that cannot be put back."""

    def __init__(self, function: Any, args: tuple[Any, ...], roots: Mapping[str, Any]) -> None:
        import torch

        self._torch = torch
        self._undo: list[Callable[[], None]] = []
        self._seen: dict[int, Any] = {}  # with the values, since an id is used again once its value is gone
        self._storages: set[int] = set()
        self._versions: list[tuple[Any, int]] = []
        self.has_history = False  # whether autograd knows of an operation that made one of the tensors
        self._waiting = [(value, path) for path, value in roots.items()]
        _finish_on_gpus()
        for each in (*functions_reached(function, args), *_functions_of_operators()):
            self._wait(each, each.__qualname__)
        with torch.inference_mode(False), torch.no_grad():
            while self._waiting:
                self._visit(*self._waiting.pop())
                if len(self._seen) > _MOST_VALUES:
                    raise CannotTry(f"more than {_MOST_VALUES:,} values are within its reach")
        self._random_numbers()
        self._settings()

    def put_back(self) -> None:
        """Make everything what it was. Raises CannotTry, once all else is put back, where that is not so."""
        left = []
        _finish_on_gpus()
        with self._torch.inference_mode(False), self._torch.no_grad():
            for undo in self._undo:
                try:
                    undo()
                except Exception as error:
                    left.append(text_of(error))
            written = [(value, version) for value, version in self._versions if value._version != version]
            if written:
                set_versions = self._torch._C._autograd._unsafe_set_version_counter
                set_versions(*zip(*written, strict=True))
        self._torch.set_grad_enabled(self._grad_mode)
        if left:
            raise CannotTry(left[0])

    def is_known(self, tensor: Any) -> bool:
        """Whether a tensor has memory that was there before."""
        return tensor.layout is self._torch.strided and tensor.untyped_storage()._cdata in self._storages

    def _visit(self, value: Any, path: str) -> None:
        kind, torch = type(value), self._torch
        if kind in _PLAIN or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if kind in (torch.Tensor, torch.nn.Parameter):
            self._tensor(value, path)
        elif issubclass(kind, torch.Tensor):
            raise CannotTry(f"{path} is a {kind.__qualname__}")
        elif issubclass(kind, torch.Generator):
            self._undo.append(functools.partial(value.set_state, value.get_state()))
        elif issubclass(kind, random.Random):
            self._undo.append(functools.partial(value.setstate, value.getstate()))
        elif issubclass(kind, type):
            if is_own_class(value):
                self._names(value, path)
        elif issubclass(kind, ModuleType):
            if is_own(str(vars(value).get("__file__"))):
                self._names(value, path)
        elif kind is FunctionType:
            if is_own(value.__code__.co_filename):
                self._variables(value)
        elif kind is _CACHED:
            if value.cache_info().currsize == 0:
                self._undo.append(value.cache_clear)
            self._wait(value.__wrapped__, path)
        elif kind is functools.partial:
            self._wait((value.func, value.args, value.keywords), path)
        elif issubclass(kind, (MethodType, BuiltinFunctionType)):
            if not isinstance(value.__self__, ModuleType):
                self._wait(value.__self__, path)
        elif kind.__module__.partition(".")[0] == "numpy":
            self._numpy(value, kind, path)
        elif not self._is_stateless(value, kind):
            self._object(value, kind, path)

    def _is_stateless(self, value: Any, kind: type) -> bool:
        module = self._torch.nn.Module
        return (
            kind.__module__ == "torch"
            or issubclass(kind, (*_STATELESS, self._torch.Stream, self._torch.Event))
            or (kind.__module__.startswith(_OF_THE_COMPILER) and not issubclass(kind, module))
            or value is sys.stdout
            or value is sys.stderr
        )

    def _wait(self, value: Any, path: str) -> None:
        self._waiting.append((value, path))

    def _variables(self, function: FunctionType) -> None:
        """A function's own attributes, its variables of enclosing functions, and the global ones it names."""
        self._undo.append(functools.partial(_put_in_dict, vars(function), dict(vars(function))))
        for value in vars(function).values():
            self._wait(value, function.__qualname__)
        for cell in function.__closure__ or ():
            self._cell(cell)
        names = function.__globals__
        for name in globals_in(function.__code__):
            value = names.get(name, _MISSING)
            self._undo.append(functools.partial(_put_name, names, name, value))
            if value is not _MISSING:
                self._wait(value, f"global {name}")

    def _cell(self, cell: CellType) -> None:
        if id(cell) in self._seen:
            return
        self._seen[id(cell)] = cell
        try:
            value = cell.cell_contents
        except ValueError:  # the variable has no value yet
            self._undo.append(functools.partial(_empty, cell))
            return
        self._undo.append(functools.partial(_put_in_cell, cell, value))
        self._wait(value, "a variable of an enclosing function")

    def _names(self, owner: Any, path: str) -> None:
        """The names of a class or module of the program."""
        names = {name: value for name, value in vars(owner).items() if not name.startswith("__")}
        self._undo.append(functools.partial(_put_names, owner, names))
        if isinstance(owner, type):
            for value in names.values():
                if type(value) in _CONTAINERS or isinstance(value, self._torch.Tensor):
                    self._wait(value, path)

    def _object(self, value: Any, kind: type, path: str) -> None:
        base = next(
            each for each in (*_CONTAINERS, *_FROZEN, SimpleNamespace, object) if issubclass(kind, each)
        )
        slots = [
            (name, slot)
            for each in kind.__mro__
            for name, slot in vars(each).items()
            if isinstance(slot, MemberDescriptorType)
        ]
        known = len(slots) + (kind.__dictoffset__ != 0) + (kind.__weakrefoffset__ != 0)
        if kind.__basicsize__ - base.__basicsize__ > known * _WORD:  # it has something that only C sees
            raise CannotTry(f"{path} is a {kind.__qualname__}, which cannot be put back")
        self._undo.append(functools.partial(_put_class, value, kind))
        for each in kind.__mro__:
            self._wait(each, path)
        names = getattr(value, "__dict__", None)
        if isinstance(names, dict):
            self._undo.append(functools.partial(_put_in_dict, names, dict(names)))
            for name, part in names.items():
                self._wait(part, f"{path}.{name}")
        for name, slot in slots:
            part = _in_slot(slot, value)
            self._undo.append(functools.partial(_put_in_slot, slot, value, part))
            if part is not _MISSING:
                self._wait(part, f"{path}.{name}")
        if base in _CONTAINERS:
            self._container(value, base, path)
        elif base in (tuple, frozenset):
            for part in base.__iter__(value):  # type: ignore[attr-defined]
                self._wait(part, path)

    def _container(self, value: Any, base: type, path: str) -> None:
        if issubclass(base, dict):
            content: Any = list(base.items(value))
            for key, part in content:
                self._wait(part, f"{path}[{key!r}]" if type(key) in _PLAIN else path)
            self._undo.append(functools.partial(_put_items, base, value, content))
            return
        content = list(base.__iter__(value))  # type: ignore[attr-defined]
        self._undo.append(functools.partial(_put_content, base, value, content))
        if base is not bytearray:
            for part in content:
                self._wait(part, path)

    def _tensor(self, value: Any, path: str) -> None:
        torch = self._torch
        if value.layout is not torch.strided or value.device.type == "meta":
            raise CannotTry(f"{path} is a tensor of layout {value.layout} on {value.device}")
        self.has_history = self.has_history or value.grad_fn is not None
        storage = value.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages.add(storage._cdata)
            self._memory(storage)
        self._undo.append(
            functools.partial(_put_tensor, value, value.data, value.grad_fn, value.requires_grad)
        )
        if not value.is_inference():
            self._versions.append((value, value._version))
        if value.is_leaf:
            self._undo.append(functools.partial(_put_gradient, value, value.grad))
            if value.grad is not None:
                self._wait(value.grad, f"gradient of {path}")
        for hooks in ("_backward_hooks", "_post_accumulate_grad_hooks"):
            before = getattr(value, hooks, None)
            self._undo.append(
                functools.partial(_put_hooks, value, hooks, None if before is None else dict(before))
            )

    def _memory(self, storage: Any) -> None:
        """The bytes of a storage, kept beside it."""
        torch = self._torch
        device = storage.device
        if storage.nbytes() == 0:
            return
        if device.type == "cuda":
            # Eager needs what is left, and so does the program's own call afterwards.
            free = torch.cuda.mem_get_info(device)[0]
            free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            if free < torch.cuda.get_device_properties(device).total_memory // 2 + storage.nbytes():
                raise TooLittleMemory
        content = torch.empty(0, dtype=torch.uint8, device=device).set_(storage)
        self._undo.append(functools.partial(_put_bytes, content, content.clone()))

    def _numpy(self, value: Any, kind: type, path: str) -> None:
        numpy = sys.modules["numpy"]
        if issubclass(kind, numpy.ndarray) and value.dtype.kind in "?biufcSU":
            kept = numpy.array(value)
            self._undo.append(lambda: value.flags.writeable and numpy.copyto(value, kept))
        elif issubclass(kind, numpy.random.Generator):
            numbers = value.bit_generator
            self._undo.append(functools.partial(setattr, numbers, "state", numbers.state))
        elif issubclass(kind, numpy.random.RandomState):
            self._undo.append(functools.partial(value.set_state, value.get_state()))
        elif not issubclass(kind, (numpy.generic, numpy.dtype, numpy.ufunc)):
            raise CannotTry(f"{path} is a {kind.__qualname__}, which cannot be put back")

    def _random_numbers(self) -> None:
        torch = self._torch
        self._undo.append(functools.partial(torch.set_rng_state, torch.get_rng_state()))
        self._undo.append(functools.partial(random.setstate, random.getstate()))
        if torch.cuda.is_initialized():
            for generator in torch.cuda.default_generators:
                self._undo.append(functools.partial(generator.set_state, generator.get_state()))
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            self._undo.append(functools.partial(numpy.random.set_state, numpy.random.get_state()))

    def _settings(self) -> None:
        """Settings of the process that a call may change: environment variables, and those of torch."""
        torch = self._torch
        self._undo += [
            functools.partial(_put_environment, dict(os.environ)),
            functools.partial(sys.setrecursionlimit, sys.getrecursionlimit()),
            functools.partial(torch.set_default_dtype, torch.get_default_dtype()),
            functools.partial(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()),
            functools.partial(
                torch.use_deterministic_algorithms,
                torch.are_deterministic_algorithms_enabled(),
                warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
            ),
        ]
        self._grad_mode = torch.is_grad_enabled()


def _finish_on_gpus() -> None:
    """Wait for all that was begun on a GPU: another stream may still be writing."""
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized():
        for device in range(torch.cuda.device_count()):
            torch.cuda.synchronize(device)


def _put_environment(variables: dict[str, str]) -> None:
    if dict(os.environ) != variables:
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)


def _functions_of_operators() -> Iterator[FunctionType]:
    """The functions behind the operators that the program has defined by `torch.library.custom_op`.

    Source: torch/_library/custom_ops.py (OPDEFS, CustomOpDef), 2.8 to 2.15.
    """
    from torch._library.custom_ops import OPDEFS

    for operator_of_python in OPDEFS.values():
        functions = [getattr(operator_of_python, name, None) for name in _PARTS_OF_AN_OPERATOR]
        for each in (*functions, *getattr(operator_of_python, "_backend_fns", {}).values()):
            each = inspect.unwrap(each) if callable(each) else None
            if isinstance(each, FunctionType):
                yield each


def _put_name(names: dict[str, Any], name: str, value: Any) -> None:
    if value is _MISSING:
        names.pop(name, None)
    elif names.get(name, _MISSING) is not value:
        names[name] = value


def _put_in_cell(cell: CellType, value: Any) -> None:
    if _content_of(cell) is not value:
        cell.cell_contents = value


def _empty(cell: CellType) -> None:
    if _content_of(cell) is not _MISSING:
        del cell.cell_contents


def _content_of(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _put_names(owner: Any, names: dict[str, Any]) -> None:
    now = {name: value for name, value in vars(owner).items() if not name.startswith("__")}
    for name, value in names.items():
        if now.get(name, _MISSING) is not value:
            setattr(owner, name, value)
    for name in now.keys() - names.keys():
        delattr(owner, name)


def _put_class(value: Any, kind: type) -> None:
    if type(value) is not kind:
        object.__setattr__(value, "__class__", kind)


def _is_as_it_was(now: Sequence[Any], then: Sequence[Any]) -> bool:
    return len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))


def _put_in_dict(names: dict[str, Any], content: dict[str, Any]) -> None:
    _put_items(dict, names, list(content.items()))


def _put_items(base: Any, value: Any, content: list[tuple[Any, Any]]) -> None:
    now = list(base.items(value))
    if _is_as_it_was([part for item in now for part in item], [part for item in content for part in item]):
        return
    base.clear(value)
    for key, part in content:
        base.__setitem__(value, key, part)


def _put_content(base: Any, value: Any, content: list[Any]) -> None:
    if _is_as_it_was(list(base.__iter__(value)), content):
        return
    base.clear(value)
    (base.update if base is set else base.extend)(value, content)


def _in_slot(slot: Any, value: Any) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:  # it was never assigned
        return _MISSING


def _put_in_slot(slot: Any, value: Any, part: Any) -> None:
    if _in_slot(slot, value) is not part:
        if part is _MISSING:
            slot.__delete__(value)
        else:
            slot.__set__(value, part)


def _put_tensor(value: Any, data: Any, made_by: Any, requires_grad: bool) -> None:
    if value.grad_fn is not made_by:
        raise RuntimeError("autograd has noted a write that cannot be put back")
    now = value.data
    is_moved = now.untyped_storage()._cdata != data.untyped_storage()._cdata
    layouts = [(each.dtype, each.shape, each.stride(), each.storage_offset()) for each in (now, data)]
    if is_moved or layouts[0] != layouts[1]:
        value.data = data
    if made_by is None and value.requires_grad != requires_grad:
        value.requires_grad_(requires_grad)


def _put_bytes(content: Any, then: Any) -> None:
    if not content.equal(then):
        content.copy_(then)


def _put_gradient(value: Any, gradient: Any) -> None:
    if value.is_leaf and value.grad is not gradient:
        value.grad = gradient


def _put_hooks(value: Any, name: str, hooks: dict[Any, Any] | None) -> None:
    now = getattr(value, name, None)
    if now is not None:
        _put_items(dict, now, list((hooks or {}).items()))
