"""The operations of a call, each with the program's line: in eager, and as Dynamo captured them.

Where tracing went wrong, or an entry is stale, the captured graphs have other operations than eager, or the
same ones give other values. What numpy does in eager is no operation, so neither is what a graph has for it.

Source: torch/_dynamo/utils.py (numpy_to_tensor_wrapper and what stands beside it), read in 2.13.
"""

import difflib
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any

from ..frames.program_files import is_own
from ..frames.source import user_lines
from .source_of_value import class_of_line, condition_between, function_of_line, line_of_source

if TYPE_CHECKING:
    from torch.fx import GraphModule

_MOST_OPERATIONS = 20_000
_DIGITS = 4  # of the sum that stands for a result: what rounding leaves alone
_HANDLERS = ("__torch_function__", "__torch_dispatch__")  # what they pass on is called further out
_PLAIN = (int, float, complex, str, list, tuple, dict, set, frozenset, deque, type(None))
Operation = list[Any]
# In a copy of the process: the log that notes the operations of graphs that were compiled earlier.
noting: list["OperationLog"] = []


class OperationLog:
    """Operations in order: file, line and name of each, a sum of its first result, that one's dtype and
    memory, the names of the frame's variables that hold Python's own values, the program's lines that
    called it, the outermost first, and how many of `steps` there were before it. Of an operation without a
    result, the memory is that which it writes.
    """

    def __init__(self, steps: Sized = ()) -> None:
        self.operations: list[list[Any]] = []
        self.with_numpy: list[list[Any]] = []  # these, and what a graph has for numpy's functions
        self._steps = steps
        self._lines: list[tuple[str, int]] | None = None  # of the node that is run
        self._is_of_numpy = False  # that node

    def mode(self) -> Any:
        """A mode that notes each operation; the line is the innermost of the program's that is running."""
        from torch.utils._python_dispatch import TorchDispatchMode

        log = self

        class Noting(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = None
                before = values_before(func, args)
                try:
                    result = func(*args, **(kwargs or {}))
                finally:
                    changed = next((value for value, was in before if is_changed(value, was)), None)
                    written = _written(func, args) if changed is None else changed
                    given = result if changed is None else None
                    log._note(str(func).removeprefix("aten."), given, written)
                return result

        return Noting()  # type: ignore[no-untyped-call]

    def backend(self, gm: "GraphModule", example_inputs: Any) -> Callable[..., Any]:
        """A backend for torch.compile that runs the graph node by node, and notes what each calls."""

        def run(*args: Any) -> Any:
            with self.mode():
                return self.interpreter(gm).run(*args)

        return run

    def interpreter(self, gm: Any) -> Any:
        """What runs a graph node by node, so that the operations are noted with the nodes' lines."""
        import torch

        log = self

        class Running(torch.fx.Interpreter):
            def run_node(self, n: Any) -> Any:
                log._lines, log._is_of_numpy = own_lines(n), _is_of_numpy(n.target)
                return super().run_node(n)

        return Running(gm)

    def _note(self, name: str, result: Any, written: Any) -> None:
        if len(self.with_numpy) >= _MOST_OPERATIONS:
            return
        lines, names = self._lines, []
        if lines is None:
            frames = list(_own_frames())
            lines = [(frame.f_code.co_filename, frame.f_lineno) for frame in reversed(frames)]
            variables = frames[0].f_locals if frames else {}
            names = [name for name, value in variables.items() if isinstance(value, _PLAIN)]
        file, line = lines[-1] if lines else ("", 0)
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        dtype = str(getattr(first, "dtype", ""))
        memory = memory_of(written if result is None else first)
        noted = [file, line, name, _sum(first), dtype, memory, names, lines, len(self._steps)]
        self.with_numpy.append(noted)
        if not self._is_of_numpy:
            self.operations.append(noted)


def values_before(func: Any, args: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The tensors that an operator of the program's own is given, each with a copy.

    What it writes may not be what it says that it writes.
    """
    import torch

    if func.namespace in ("aten", "prims") or "::" not in func.name():
        return []
    return [(value, value.detach().clone()) for value in args if isinstance(value, torch.Tensor)]


def is_changed(value: Any, before: Any) -> bool:
    """Whether a tensor has other values than before."""
    import torch

    return not torch.equal(value.detach(), before)


def _written(func: Any, args: Sequence[Any]) -> Any:
    """The first argument of an operator that it writes; None if there is none."""
    schema = zip(func._schema.arguments, args, strict=False)
    return next((value for each, value in schema if each.alias_info and each.alias_info.is_write), None)


def _own_frames() -> Iterator[Any]:
    """The frames of the program's in the call that is logged, the innermost first."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "outcome_of":
        if is_own(frame.f_code.co_filename) and frame.f_code.co_name not in _HANDLERS:
            yield frame
        frame = frame.f_back


def own_lines(node: Any) -> list[tuple[str, int]]:
    """The program's lines of a graph's node, the outermost first."""
    return [each for each in user_lines(node.meta.get("stack_trace")) if is_own(each[0])]


def _is_of_numpy(target: Any) -> bool:
    """Whether a node's function does what numpy does in eager."""
    names = [getattr(each, "__qualname__", "") for each in (target, type(target))]
    return any(name.startswith("numpy_") and name.endswith("_wrapper") for name in names)


def memory_of(value: Any) -> list[Any] | None:
    """Which memory a strided tensor is, and which part of it; None for another value."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    storage = value.untyped_storage()._cdata if type(value) in (torch.Tensor, torch.nn.Parameter) else 0
    return [storage, value.storage_offset(), list(value.shape), list(value.stride())]


def _sum(first: Any) -> float | None:
    import torch

    if not isinstance(first, torch.Tensor) or first.layout is not torch.strided or not first.numel():
        return None
    values = first.detach().abs() if first.is_complex() else first.detach()
    total = float(values.double().nansum()) + float(values.double().abs().nansum()) * 0.1
    return float(f"{total:.{_DIGITS}g}")


def first_different_line(
    eager: Sequence[Operation], captured: Sequence[Operation]
) -> tuple[tuple[str, int, str], int] | None:
    """The file, line and operation from which on the captured operations are not eager's; None without one.

    With it goes the step of eager at which that is. Where the two took different branches of an `if`, it is
    the line of the condition; where the operation is given a variable that holds no tensor, the line that the
    variable has its value from; and where it is in a function of which nothing was captured, the line that
    calls that. The file is "" where no line of the program that was compiled has a part in it.
    """
    own_calls, other_calls = ([tuple(each[:3]) for each in log] for log in (eager, captured))
    matcher = difflib.SequenceMatcher(None, own_calls, other_calls, autojunk=False)
    alike: set[tuple[str, int]] = set()
    for what, i, i_end, j, j_end in matcher.get_opcodes():
        if what != "equal" and _is_in_other_words(eager[i:i_end], captured[j:j_end], alike):
            continue
        if what != "equal":
            i, j = _behind_other_words(eager, captured, (i, i_end), (j, j_end), alike)
            if (i, j) == (i_end, j_end):
                continue
            own = eager[i] if i < i_end else None
            given = own or _with_names(captured[j], eager)
            nexts = eager[i] if i < len(eager) else None, captured[j] if j < len(captured) else None
            place = _at_condition(*nexts, eager[i - 1] if i else None)
            at = eager[min(i, len(eager) - 1)] if eager else given
            return place or _line_of(given, captured, eager[:i]), at[-1]
        for k in range(i_end - i):
            if not _is_alike(eager[i + k], captured[j + k]):
                return _line_of(eager[i + k], captured, eager[: i + k]), eager[i + k][-1]
    return None


def _is_in_other_words(
    own: Sequence[Operation], other: Sequence[Operation], alike: set[tuple[str, int]]
) -> bool:
    """Whether other operations of one line give the same. Such lines are `alike` from there on."""
    lines = {(each[0], each[1]) for each in (*own, *other)}
    if len(lines) == 1 and own and other and any(_is_alike(own[at], other[at]) for at in (0, -1)):
        alike |= lines
    return lines <= alike


def _behind_other_words(
    eager: Sequence[Operation],
    captured: Sequence[Operation],
    own: tuple[int, int],
    other: tuple[int, int],
    alike: set[tuple[str, int]],
) -> tuple[int, int]:
    """Where the operations of two ranges begin to differ, behind lines that give the same in other words."""
    (i, i_end), (j, j_end) = own, other
    while i < i_end and j < j_end and eager[i][:2] == captured[j][:2]:
        of_line = [_end_of_line(eager, i, i_end), _end_of_line(captured, j, j_end)]
        if not _is_in_other_words(eager[i : of_line[0]], captured[j : of_line[1]], alike):
            break
        i, j = of_line
    return i, j


def _end_of_line(operations: Sequence[Operation], begin: int, end: int) -> int:
    """Where the operations of the line end that begin here."""
    return next((at for at in range(begin, end) if operations[at][:2] != operations[begin][:2]), end)


def _with_names(operation: Operation, eager: Sequence[Operation]) -> Operation:
    """A captured operation with the names that eager's frame had on its line."""
    names: list[str] = next((each[6] for each in eager if each[:2] == operation[:2]), [])
    return [*operation[:6], names, *operation[7:]]


def _at_condition(
    own: Operation | None, other: Operation | None, earlier: Operation | None
) -> tuple[str, int, str] | None:
    """The line of the condition that decides between two operations of a function, or for one alone.

    That is also one after which nothing more of a function follows that the `earlier` operation is in.
    """
    known = [each for each in (own, other) if each is not None]
    if len({function_of_line(*each[:2]) for each in known}) == 1:
        file, before = known[0][0], earlier[1] if earlier and earlier[0] == known[0][0] else 0
        first, second = (None if each is None else int(each[1]) for each in (own, other))
        line = condition_between(file, first, second, before)
        if line is not None:
            return file, line, known[0][2]
    for file, before in reversed(earlier[7] if earlier else ()):
        for each in known:
            inside = [at for at in each[7] if function_of_line(*at) == function_of_line(file, before)]
            line = condition_between(file, inside[-1][1], None, before) if inside else None
            if line is not None and inside[-1][1] > before:
                return file, line, each[2]
    return None


def _line_of(
    operation: Operation, captured: Sequence[Operation], earlier: Sequence[Operation]
) -> tuple[str, int, str]:
    """The innermost line of an operation in a function of which something was captured; file "" if none.

    In a backward that a class of the program has, it is the line that called the class in the forward.
    """
    file, line, name, *_, names, lines, _ = operation
    functions = {function_of_line(*at) for each in captured for at in each[7]}
    for own_file, own_line in reversed(lines):
        if not captured or function_of_line(own_file, own_line) in functions:
            is_innermost = (own_file, own_line) == (file, line)
            source = line_of_source(own_file, own_line, names) if is_innermost else own_line
            return own_file, source, name
    own_class = class_of_line(file, line)
    for each in reversed(earlier if own_class else ()):
        classes = [class_of_line(*at) for at in each[7]]
        if own_class in classes[1:]:
            return (*each[7][classes.index(own_class) - 1], name)
    return "", 0, name


def last_operation_on(
    operations: Sequence[Operation], memory: list[Any] | None, *, writes: bool
) -> int | None:
    """The index of the last operation that gave a tensor of this memory, or that wrote it."""
    if memory is None:
        return None
    found = [
        index
        for index, each in enumerate(operations)
        if each[5] and each[5][0] == memory[0] and (not writes or is_write(each))
    ]
    exact = [index for index in found if operations[index][5] == memory]
    return max(exact or found, default=None)


def first_write_to(
    operations: Sequence[Operation], memories: Iterable[list[Any] | None]
) -> tuple[str, int, str] | None:
    """The file, line and name of the first operation that wrote one of these tensors' memory."""
    storages = {memory[0] for memory in memories if memory is not None}
    for operation in operations:
        file, line, name, _, _, memory, *_ = operation
        if memory and memory[0] in storages and is_write(operation):
            return file, line, name
    return None


def is_write(operation: Operation) -> bool:
    """Whether an operation writes one of its arguments."""
    base, _, overload = operation[2].partition(".")
    return base.endswith("_") or overload.endswith("out") or not operation[4]


def first_cast_to_short(operations: Sequence[Operation]) -> tuple[str, int, str] | None:
    """The file, line and name of the first cast to a dtype of less than 32 bits."""
    for file, line, name, _, dtype, *_ in operations:
        if name.startswith("_to_copy") and dtype in ("torch.bfloat16", "torch.float16"):
            return file, line, name
    return None


def _is_alike(own: Operation, other: Operation) -> bool:
    """Whether two operations gave the same, as far as the log tells."""
    shapes = [each[5][2] if each[5] else None for each in (own, other)]
    return shapes[0] == shapes[1] and _is_close(own[3], other[3])


def _is_close(first: float | None, second: float | None) -> bool:
    if first is None or second is None or first == second or first != first:
        return True
    return abs(first - second) <= 10.0 ** (1 - _DIGITS) * max(abs(first), abs(second))
