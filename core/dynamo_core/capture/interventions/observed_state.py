"""What a call of the program left behind: what it returned or raised, and the state that it could change.

The values are found by paths, `args[0]`, `self.weight`, `result['loss']`, so that those of two processes can
be compared. Nothing here runs the values' own code: containers are walked by the built-in types' methods.
"""

import dis
import functools
import os
import random
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from ...shared.names import GRADIENT
from ..frames.program_files import is_own

# A leaf is a list whose first element says what it is.
TENSOR, VALUE, KIND, SAME = "tensor", "value", "kind", "same"
UNTOUCHED = "untouched"  # in place of a tensor's values that nothing has written
Leaf = list[Any]
Leaves = dict[str, Leaf]

RESULT, RAISED = "result", "raised"
RAISED_CLASSES, RAISED_AT = "raised: classes", "raised: line"
LEFT_OUT = "left out"  # a path that says which values were not looked at
RANDOM_NUMBERS = "random numbers of "
TORCH_NUMBERS = f"{RANDOM_NUMBERS}torch"
_PLAIN = (int, float, complex, bool, str, bytes, type(None), range, slice)
_OF_TORCH = ("dtype", "device", "layout", "memory_format")
_CACHED = functools._lru_cache_wrapper
_NOT_WALKED = (_CACHED, ModuleType, type, FunctionType, MethodType, BuiltinFunctionType, CodeType)
_OF_GLOBALS = frozenset(f"{what}_{of}" for what in ("LOAD", "STORE", "DELETE") for of in ("GLOBAL", "NAME"))
_MOST_LEAVES = 20_000
_MOST_DEPTH = 12
_LONGEST_TEXT = 2000
_MOST_FUNCTIONS = 200
_MOST_BYTES = 1 << 30  # of tensors, in one observation
_MOST_BYTES_OF_AN_ARRAY = 1 << 24  # arrays are copied
_MOST_LEFT_OUT = 3  # are named
_SELF = "self"


def roots_of(function: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a call of `function` is given or can reach, by name.

    Those are its arguments, the object that it is a method of (or that is called), variables of enclosing
    functions, and global variables of the program that it, and functions of the program that it calls, have
    the names of.
    """
    roots: dict[str, Any] = {}
    owner = _owner_of(function)
    if owner is not None and not isinstance(owner, ModuleType):
        roots[_SELF] = owner
    roots |= {f"args[{i}]": value for i, value in enumerate(args)}
    roots |= {f"argument {name}": value for name, value in named.items()}
    for name, value in _variables(list(_functions_of(function, [owner, *args]))):
        roots.setdefault(name, value)
    return roots


def _owner_of(function: Any) -> Any:
    """The object that a function is a method of; a module, or what else the program calls, is its own."""
    is_module = isinstance(function, sys.modules["torch"].nn.Module)
    is_object = is_module or is_own_class(type(function))
    return function if is_object else getattr(function, "__self__", None)


def functions_reached(function: Any, args: tuple[Any, ...]) -> list[FunctionType]:
    """The functions of the program that a call of `function` may call."""
    functions = list(_functions_of(function, [_owner_of(function), *args]))
    for _ in _variables(functions):
        pass
    return functions


def _variables(functions: list[FunctionType]) -> Iterator[tuple[str, Any]]:
    """The variables of these functions, and of those that they name, which are added to the list."""
    known = {id(each) for each in functions}
    for each in functions:  # it grows while it is walked
        for name, cell in zip(each.__code__.co_freevars, each.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # the variable has no value yet
                continue
            yield from _variable(f"variable {name}", value, functions, known)
        for name in globals_in(each.__code__):
            if name in each.__globals__:
                yield from _variable(f"global {name}", each.__globals__[name], functions, known)


def _variable(
    name: str, value: Any, functions: list[FunctionType], known: set[int]
) -> Iterator[tuple[str, Any]]:
    """A variable, unless it is code: functions and methods of the program are walked in their turn."""
    if not isinstance(value, _NOT_WALKED):
        yield name, value
        value = type(value)  # its methods may be called
    for each in _functions_of(value, []):
        if id(each) not in known and len(functions) < _MOST_FUNCTIONS and is_own(each.__code__.co_filename):
            known.add(id(each))
            functions.append(each)


def _functions_of(function: Any, owners: list[Any]) -> Iterator[FunctionType]:
    function = getattr(function, "__func__", function)
    if isinstance(function, _CACHED):  # traced as what it wraps, so its state counts
        function = function.__wrapped__
    if isinstance(function, (classmethod, staticmethod)):
        function = function.__func__
    if isinstance(function, FunctionType):
        yield function
    elif isinstance(function, type) and is_own_class(function):
        for each in vars(function).values():
            if not isinstance(each, type):
                yield from _functions_of(each, [])
    module = sys.modules["torch"].nn.Module
    for owner in owners:
        if isinstance(owner, module):
            for each in {type(part): None for part in module.modules(owner)}:
                forward = getattr(each, "forward", None)
                if isinstance(forward, FunctionType) and is_own(forward.__code__.co_filename):
                    yield forward


@functools.cache
def globals_in(code: CodeType) -> list[str]:
    """The global variables that code names. Dynamo may make others, which have the names of attributes."""
    names = {each.argval: None for each in dis.get_instructions(code) if each.opname in _OF_GLOBALS}
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return [*names, *(name for each in inner for name in globals_in(each))]


def observe(roots: Mapping[str, Any], untouched: set[int], *, keep: bool = False) -> Leaves:
    """The leaves of these values.

    Tensors are not copied, and detached unless they are to be kept as they are. The values of those whose ids
    are `untouched` are left out. What else was not looked at is said at the path LEFT_OUT.
    """
    leaves: Leaves = {}
    walk = _Walk(leaves, untouched, keep)
    for name, value in roots.items():
        walk.visit(name, value, 0)
    if walk.left_out:
        leaves[LEFT_OUT] = [VALUE, "; ".join(walk.left_out)]
    return leaves


def python_values(function: Any) -> Leaves:
    """The leaves of what a function names, and its module has, that hold Python's own values."""
    return {
        path: leaf
        for path, leaf in observe(roots_of(function, (), {}), set()).items()
        if leaf[0] != TENSOR and not path.startswith((GRADIENT, LEFT_OUT))
    }


class _Walk:
    def __init__(self, leaves: Leaves, untouched: set[int], keep: bool) -> None:
        import torch

        self._untouched, self._keep = untouched, keep
        self._torch = torch
        self._leaves = leaves
        self._seen: dict[int, str] = {}
        self._storages: dict[int, str] = {}
        self._alive: list[Any] = []  # an id is reused when its object is gone
        self._bytes_left = _MOST_BYTES
        self.left_out: list[str] = []

    def visit(self, path: str, value: Any, depth: int) -> None:
        if len(self._leaves) >= _MOST_LEAVES or depth > _MOST_DEPTH:
            self._leave_out(f"what is beyond {_MOST_LEAVES} values or {_MOST_DEPTH} levels")
            return
        kind = type(value)
        if kind in _PLAIN or (kind.__module__ == "torch" and kind.__name__ in _OF_TORCH):
            self._leaves[path] = [VALUE, _text_of(value)]
            return
        if isinstance(value, _NOT_WALKED):
            return
        first = self._seen.setdefault(id(value), path)
        if first is not path:
            self._leaves[path] = [SAME, first]
            return
        self._alive.append(value)
        if issubclass(kind, self._torch.Tensor):
            self._leaves[path] = self._tensor(path, value)
            if has_gradient(value):
                self.visit(f"{GRADIENT}{path}", value.grad, depth + 1)
            return
        self._leaves[path] = [KIND, f"{kind.__module__}.{kind.__qualname__}"]
        for name, part in self._parts(path, kind, value):
            self.visit(f"{path}{name}", part, depth + 1)

    def _leave_out(self, what: str) -> None:
        if what not in self.left_out and len(self.left_out) < _MOST_LEFT_OUT:
            self.left_out.append(what)

    def _parts(self, path: str, kind: type, value: Any) -> Iterator[tuple[str, Any]]:
        if issubclass(kind, dict):
            for key, part in dict.items(value):
                yield f"[{_name_of(key)}]", part
            if issubclass(kind, OrderedDict):  # its order is a part of its value
                yield " order", ", ".join(map(_name_of, OrderedDict.keys(value)))
        elif issubclass(kind, (list, deque)):
            walked = list if issubclass(kind, list) else deque
            yield from ((f"[{i}]", part) for i, part in enumerate(walked.__iter__(value)))
        elif issubclass(kind, tuple):
            yield from ((f"[{i}]", part) for i, part in enumerate(tuple.__iter__(value)))
        elif issubclass(kind, (set, frozenset)):
            if all(type(part) in _PLAIN for part in value):
                yield "{}", repr(sorted(map(repr, value)))
            else:
                self._leave_out(f"what is in the set {path}")
        elif issubclass(kind, self._torch.nn.Module):
            yield from self._parts_of_module(value)
        elif kind.__module__ == "numpy" and hasattr(value, "dtype"):
            yield from self._parts_of_array(path, value)
        elif is_own_class(kind):
            yield from ((f".{name}", part) for name, part in _attributes(kind, value))
        elif path.startswith(RESULT):
            self._leave_out(f"what is in {path}, a {kind.__qualname__}")

    def _parts_of_array(self, path: str, array: Any) -> Iterator[tuple[str, Any]]:
        numpy = sys.modules["numpy"]
        yield " dtype", str(array.dtype)
        if array.dtype.kind in "biufc" and array.nbytes <= _MOST_BYTES_OF_AN_ARRAY:
            yield " values", self._torch.from_numpy(numpy.array(array))
        else:
            self._leave_out(f"the values of the array {path}")

    def _parts_of_module(self, module: Any) -> Iterator[tuple[str, Any]]:
        names = vars(module)
        for own in ("_parameters", "_buffers", "_modules"):
            yield from ((f".{name}", part) for name, part in (names.get(own) or {}).items())
        for name, part in names.items():
            if not name.startswith("_") and name != "training":
                yield f".{name}", part

    def _tensor(self, path: str, value: Any) -> Leaf:
        plain = value.detach()
        is_strided = plain.layout is self._torch.strided and type(value) in (
            self._torch.Tensor,
            self._torch.nn.Parameter,
        )
        alias = self._alias(path, plain) if is_strided else None
        values: Any = None
        if id(value) in self._untouched:
            values = UNTOUCHED
        elif is_strided and self._bytes_left > 0:
            self._bytes_left -= plain.numel() * plain.element_size()
            values = value if self._keep else plain
        else:
            self._leave_out(f"the values of the tensor {path}")
        return [
            TENSOR,
            str(plain.dtype),
            [size if type(size) is int else "?" for size in plain.shape],  # of rows that differ
            _strides(plain) if is_strided else None,
            str(plain.device),
            bool(value.requires_grad),
            alias,
            value.is_inference(),
            values,
        ]

    def _alias(self, path: str, plain: Any) -> str | None:
        """The path of the first tensor that was met with the same memory; None if this is the first."""
        first = self._storages.setdefault(plain.untyped_storage()._cdata, path)
        return None if first is path or plain.numel() == 0 else first


def has_gradient(value: Any) -> bool:
    """Whether a backward gives this tensor a gradient (`value.grad`)."""
    torch = sys.modules["torch"]
    is_plain = type(value) in (torch.Tensor, torch.nn.Parameter)
    return bool(is_plain and value.is_leaf and value.requires_grad)


def _text_of(value: Any) -> str:
    """What Python writes a value as; of a long text the end is a hash."""
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}… {hash(text)}"


def _name_of(key: Any) -> str:
    return repr(key) if type(key) in _PLAIN else type(key).__name__


def _attributes(kind: type, value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object that are in its dictionary or its slots."""
    names = getattr(value, "__dict__", None)
    if isinstance(names, dict):
        yield from names.items()
    for base in kind.__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):  # it was never assigned
                    yield name, slot.__get__(value)


def is_own_class(kind: type) -> bool:
    """Whether instances of a class are the program's data: it is defined in one of the program's files."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return kind.__module__ == "__main__" or (isinstance(file, str) and is_own(os.path.abspath(file)))


def _strides(value: Any) -> list[int]:
    """The strides of the dimensions in which there is more than one element: others do not matter."""
    if value.numel() == 0:
        return []
    return [stride for stride, size in zip(value.stride(), value.shape, strict=True) if size > 1]


def torch_random_states() -> dict[str, Any]:
    """The state of torch's random number generators: on the CPU, and on each GPU that is in use."""
    import torch

    states = {TORCH_NUMBERS: torch.get_rng_state()}
    if torch.cuda.is_initialized():
        generators = enumerate(torch.cuda.default_generators)
        states |= {f"{TORCH_NUMBERS} on cuda:{i}": each.get_state() for i, each in generators}
    return states


def random_states() -> dict[str, Any]:
    """The state of the random number generators: torch's, Python's and numpy's."""
    states = torch_random_states()
    states[f"{RANDOM_NUMBERS}Python"] = repr(hash(random.getstate()))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, *rest = numpy.random.get_state()
        states[f"{RANDOM_NUMBERS}numpy"] = repr((kind, hash(keys.tobytes()), rest))
    return states
