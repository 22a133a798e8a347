"""Frames and their code: stack lines, method names, user lines of graph nodes, the compile in progress."""

import linecache
import os
import sys
import weakref
from collections.abc import Iterator, Mapping
from inspect import CO_VARARGS
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch._dynamo.types import DynamoFrameType

_PACKAGE_FOLDER = os.path.abspath(str(__spec__.origin)).rpartition(f"{os.sep}capture{os.sep}")[0]
_MOST_DECORATING = 100  # lines of decorators above a `def`
_WRAP_INLINE = os.path.join("torch", "_dynamo", "external_utils.py")
_MOST_WRAPPERS = 8
_RESUME_PREFIX = "torch_dynamo_resume_in_"  # torch/_dynamo/resume_execution.py, 2.8 to 2.15
_BEGIN_OF_ENTRY = 'File "'  # in the text of a stack trace


class CodeObjects:
    """A set of code objects that does not keep them alive.

    They are compared by identity, since code objects compare by value. The weak references have no callbacks,
    which would run at interpreter exit: dead ones are swept once there are many.
    """

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[CodeType]] = {}
        self._sweep_at = 1000

    def add(self, code: CodeType) -> None:
        self._references[id(code)] = weakref.ref(code)
        if len(self._references) >= self._sweep_at:
            self._references = {key: ref for key, ref in self._references.items() if ref() is not None}
            self._sweep_at = 1000 + 2 * len(self._references)

    def alive(self) -> list[CodeType]:
        found = [reference() for reference in list(self._references.values())]
        return [code for code in found if code is not None]

    def __contains__(self, code: CodeType) -> bool:
        reference = self._references.get(id(code))
        return reference is not None and reference() is code


def stack_line(frame: FrameType) -> dict[str, Any]:
    """The line that a frame is at, as stacks are recorded: file, line number, function and text."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return {
        "file": file,
        "line": line,
        "name": frame.f_code.co_name,
        "text": linecache.getline(file, line).strip(),
    }


def def_line(name: str, file: str, first: int) -> int | None:
    """The line of a decorated function's `def`; None where the code begins there, or the source is not known.

    The code of a decorated function begins with the first of its decorators (co_firstlineno).
    """
    lines = linecache.getlines(file)[first - 1 : first - 1 + _MOST_DECORATING] if first > 0 else []
    if not lines or not lines[0].lstrip().startswith("@"):
        return None
    begins = (f"def {name}", f"async def {name}")
    for number, line in enumerate(lines, first):
        text = line.lstrip()
        if any(text.startswith(begin) and text[len(begin) :].lstrip()[:1] in ("(", "[") for begin in begins):
            return number
    return None


def torch_folder(dynamo_module: ModuleType) -> str:
    """The folder of torch, with a separator at its end, found from a module of Dynamo."""
    return str(dynamo_module.__file__).rpartition(f"{os.sep}_dynamo{os.sep}")[0] + os.sep


def caller_outside_of(folder: str, own_file: str | None = None) -> dict[str, Any] | None:
    """The innermost line of the stack that is neither in torch's `folder` nor in our package.

    None where a converter of `own_file` is further in: converters are copied while one compiles
    (DDPOptimizer).
    """
    for frame in frames_outwards():
        if not is_in(frame, folder):
            return stack_line(frame)
        if frame.f_code.co_filename == own_file and frame.f_code.co_name == "__call__":
            return None
    return None


def caller_of(code: CodeType, folder: str) -> dict[str, Any] | None:
    """The line that called a function; where it goes on behind a graph break, that called the first part."""
    function = _function_of(code)
    for frame in frames_outwards():
        is_another_part = is_resumed(code) and _function_of(frame.f_code) == function
        if not (is_in(frame, folder) or is_another_part):
            return stack_line(frame)
    return None


def _function_of(code: CodeType) -> tuple[str, str]:
    """The file and name of a function; of one that goes on behind a graph break, its original name."""
    name = code.co_name
    if is_resumed(code):
        name = name.removeprefix(_RESUME_PREFIX).rpartition("_at_")[0]
    return code.co_filename, name


def frames_outwards() -> Iterator[FrameType]:
    """The frames of the stack, from the caller outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def is_in(frame: FrameType, folder: str) -> bool:
    """Whether a frame's code is in torch's `folder` or in our package."""
    return frame.f_code.co_filename.startswith((folder, _PACKAGE_FOLDER))


def method_name(frame: "DynamoFrameType") -> str | None:
    """The module's class and method that a frame runs, `GPT2Model.forward`; None where it is no module's.

    The frame may be that of a wrapper around the method, whose own name says less (`forward`, `inner`).
    Source: torch/_dynamo/external_utils.py (wrap_inline), 2.8 to 2.15: the wrapper around torch's own
    modules, whose frame has the module as its free variable `fn`. It may wrap a function, which is then
    named: torch.compile does that with functions of torch's and, in 2.8 to 2.11 but not in 2.13, with those
    that have no source file, as in `python -c` (eval_frame.py, _TorchDynamoContext.__call__).
    """
    code: CodeType = frame.f_code
    names = code.co_varnames
    values: dict[str, Any] = frame.f_locals
    if is_wrapper_of_modules(code):
        wrapped: Any = values.get("fn")
        kind = type(wrapped)
        if kind is FunctionType:
            return str(wrapped.__code__.co_name)
        return f"{kind.__qualname__}.forward" if issubclass(kind, sys.modules["torch"].nn.Module) else None
    if code.co_argcount:
        owner = values.get(names[0])
    elif code.co_flags & CO_VARARGS:
        owner = next(iter(values.get(names[code.co_kwonlyargcount], ())), None)
    else:
        return None
    kind = type(owner)
    if not issubclass(kind, sys.modules["torch"].nn.Module):  # isinstance might ask code of the program's
        return None
    found = [
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if any(function.__code__ is code for function in _unwrapped(value))
    ]
    if not found:
        return None
    # Wrappers that one decorator made share their code: then only the class is known.
    return f"{kind.__qualname__}.{found[0]}" if len(set(found)) == 1 else kind.__qualname__


def is_resumed(code: CodeType) -> bool:
    """Whether this is what Dynamo made of the rest of a frame, after a graph break."""
    return code.co_name.startswith(_RESUME_PREFIX)


def is_wrapper_of_modules(code: CodeType) -> bool:
    """Whether this is the code of `wrap_inline`, through which all of torch's own modules are compiled."""
    return code.co_name == "inner" and code.co_filename.endswith(_WRAP_INLINE)


def _unwrapped(value: Any) -> Iterator[FunctionType]:
    """A function, the function that it wraps (functools.wraps), and so on inwards."""
    for _ in range(_MOST_WRAPPERS):
        if isinstance(value, FunctionType):
            yield value
            value = value.__dict__.get("__wrapped__")


# The user's lines of a node of an FX graph, from the text `File "x.py", line 3, in f` that Dynamo keeps.


def user_line(stack_trace: str | None) -> tuple[str, int] | None:
    """The innermost of a node's user lines: file and line number."""
    if not stack_trace or _BEGIN_OF_ENTRY not in stack_trace:
        return None
    return _line(stack_trace.rpartition(_BEGIN_OF_ENTRY)[2])


def user_lines(stack_trace: str | None) -> Iterator[tuple[str, int]]:
    """All user lines of a node, the outermost first."""
    for entry in (stack_trace or "").split(_BEGIN_OF_ENTRY)[1:]:
        line = _line(entry)
        if line is not None:
            yield line


def line_of_call(stack_trace: str | None) -> tuple[str, int] | None:
    """The program's line that calls into a library, where the innermost line is in an installed package."""
    *callers, innermost = list(user_lines(stack_trace)) or [("", 0)]
    if not is_installed(innermost[0]):
        return None
    return next((line for line in reversed(callers) if not is_installed(line[0])), None)


def described_user_line(stack_trace: str | None) -> dict[str, Any] | None:
    """The program's line of a node, with its text; of a library's line, the one that calls it."""
    place = line_of_call(stack_trace) or user_line(stack_trace)
    if place is None:
        return None
    file, line = place
    return {"file": file, "line": line, "name": "", "text": linecache.getline(file, line).strip()}


def is_installed(file: str) -> bool:
    """Whether a file is in an installed package."""
    return "/site-packages/" in file or "/dist-packages/" in file


def is_library_file(file: str) -> bool:
    """Whether a file is not the program's: in an installed package, or in Python's standard library."""
    return is_installed(file) or "/lib/python3" in file or file.startswith("<frozen ")


def source_lines(code: CodeType) -> dict[int, str]:
    """The text of the source lines of `code`, by line number; empty where there is no file."""
    lines = [line for _, _, line in code.co_lines() if line is not None]
    if not lines:
        return {}
    wanted = range(min(lines), max(lines) + 1)
    text = linecache.getlines(code.co_filename)
    return {line: text[line - 1].rstrip("\n") for line in wanted if 0 < line <= len(text)}


def _line(entry: str) -> tuple[str, int] | None:
    file, _, rest = entry.partition('", line ')
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return (file, int(digits)) if digits else None


def current_compile_id() -> dict[str, int]:
    """The id of the compile in progress, with the keys of torch's trace records; empty outside a compile.

    Source: torch/_guards.py (CompileContext.current_trace_id), 2.8 to 2.15.
    """
    from torch._guards import CompileContext

    trace_id = CompileContext.current_trace_id()
    if trace_id is None:
        return {}
    frame_id, frame_compile_id = trace_id.compile_id.frame_id, trace_id.compile_id.frame_compile_id
    if frame_id is None or frame_compile_id is None:
        return {}
    return {
        "frame_id": frame_id,
        "frame_compile_id": frame_compile_id,
        "attempt": trace_id.attempt,
    }


def compile_id_text(envelope: Mapping[str, int]) -> str:
    """The compile id as text, `0/1`, from the keys of a trace record that say which compile it belongs to."""
    return "{}/{}".format(envelope.get("frame_id", "-"), envelope.get("frame_compile_id", "-"))
