"""The operations of a call, each with the program's line: in eager, and as Dynamo captured them.

Where tracing went wrong, the captured graph has other operations than eager, or those of other lines.
"""

import ast
import difflib
import linecache
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..frames.program_files import is_own
from ..frames.source import user_line

if TYPE_CHECKING:
    from torch.fx import GraphModule

_MOST_OPERATIONS = 20_000
_DIGITS = 4  # of the sum that stands for a result: what rounding leaves alone


class OperationLog:
    """Operations in order: file, line and name of each, a sum of its first result, and that one's dtype."""

    def __init__(self) -> None:
        self.operations: list[list[Any]] = []
        self._line: tuple[str, int] | None = None  # of the node that is run

    def mode(self) -> Any:
        """A mode that notes each operation; the line is the innermost of the program's that is running."""
        from torch.utils._python_dispatch import TorchDispatchMode

        log = self

        class Noting(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = func(*args, **(kwargs or {}))
                log._note(str(func).removeprefix("aten."), result)
                return result

        return Noting()  # type: ignore[no-untyped-call]

    def backend(self, gm: "GraphModule", example_inputs: Any) -> Callable[..., Any]:
        """A backend for torch.compile that runs the graph node by node, and notes what each calls."""
        import torch

        log = self

        class Running(torch.fx.Interpreter):
            def run_node(self, n: Any) -> Any:
                log._line = user_line(n.meta.get("stack_trace"))
                return super().run_node(n)

        def run(*args: Any) -> Any:
            with log.mode():
                return Running(gm).run(*args)

        return run

    def _note(self, name: str, result: Any) -> None:
        if len(self.operations) < _MOST_OPERATIONS:
            file, line = self._line or _running_line() or ("", 0)
            dtype = str(getattr(result, "dtype", ""))
            self.operations.append([file, line, name, _sum(result), dtype])


def _running_line() -> tuple[str, int] | None:
    frame: Any = sys._getframe(2)
    while frame is not None:
        if is_own(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _sum(result: Any) -> float | None:
    import torch

    first = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(first, torch.Tensor) or first.layout is not torch.strided or not first.numel():
        return None
    values = first.detach().abs() if first.is_complex() else first.detach()
    total = float(values.double().nansum()) + float(values.double().abs().nansum()) * 0.1
    return float(f"{total:.{_DIGITS}g}")


def first_different_line(
    eager: Sequence[list[Any]], traced: Sequence[list[Any]], *, by_value: bool = True
) -> tuple[str, int, str] | None:
    """The file, line and operation from which on the captured operations are not eager's; None without one.

    Where the two took different branches of an `if`, it is the line of the condition. `by_value` says whether
    equal operations are to have given equal values: not where the inputs were others.
    """
    own_calls, other_calls = ([tuple(each[:3]) for each in log] for log in (eager, traced))
    matcher = difflib.SequenceMatcher(None, own_calls, other_calls, autojunk=False)
    for what, i, i_end, j, j_end in matcher.get_opcodes():
        if what != "equal":
            own = own_calls[i] if i < i_end else None
            other = other_calls[j] if j < j_end else None
            file, line, name = own or other or ("", 0, "")
            branch = _condition(file, own[1] if own else None, other[1] if other else None)
            return file, branch or line, name
        for k in range(i_end - i):
            if by_value and not _is_close(eager[i + k][3], traced[j + k][3]):
                file, line, name = own_calls[i + k]
                return file, line, name
    return None


def first_cast_to_short(operations: Sequence[list[Any]]) -> tuple[str, int, str] | None:
    """The file, line and name of the first cast to a dtype of less than 32 bits."""
    for file, line, name, _, dtype in operations:
        if name.startswith("_to_copy") and dtype in ("torch.bfloat16", "torch.float16"):
            return file, line, name
    return None


def _is_close(first: float | None, second: float | None) -> bool:
    if first is None or second is None or first == second or first != first:
        return True
    return abs(first - second) <= 10.0 ** (1 - _DIGITS) * max(abs(first), abs(second))


def _condition(file: str, own: int | None, other: int | None) -> int | None:
    """The line of the condition that decides between two lines, or for one of them alone."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = None
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            branches = [node.body, node.orelse]
            sides = [_side(branches, line) for line in (own, other) if line is not None]
            is_decided = len(set(sides)) == 2 or (len(sides) == 1 and sides[0] is not None)
            if is_decided and node.lineno < min(line for line in (own, other) if line is not None):
                found = node.test.lineno
    return found


def _side(branches: list[Any], line: int) -> int | None:
    """Which of the branches of a condition a line is in; None if it is in neither."""
    for number, branch in enumerate(branches):
        nodes = branch if isinstance(branch, list) else [branch]
        if nodes and nodes[0].lineno <= line <= (nodes[-1].end_lineno or nodes[-1].lineno):
            return number
    return None
