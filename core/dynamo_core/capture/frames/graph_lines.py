"""The user's lines of a node of an FX graph, from the text `File "x.py", line 3, in f` that Dynamo keeps."""

from collections.abc import Iterator

_BEGIN = 'File "'


def user_line(stack_trace: str | None) -> tuple[str, int] | None:
    """The innermost of a node's lines: file and line number."""
    return _line(stack_trace.rpartition(_BEGIN)[2]) if stack_trace and _BEGIN in stack_trace else None


def user_lines(stack_trace: str | None) -> Iterator[tuple[str, int]]:
    """All of them, the outermost first."""
    for entry in (stack_trace or "").split(_BEGIN)[1:]:
        line = _line(entry)
        if line is not None:
            yield line


def line_of_call(stack_trace: str | None) -> tuple[str, int] | None:
    """The program's line that leads into a library's, where the innermost one is in an installed package."""
    *callers, innermost = list(user_lines(stack_trace)) or [("", 0)]
    if not is_installed(innermost[0]):
        return None
    return next((line for line in reversed(callers) if not is_installed(line[0])), None)


def is_installed(file: str) -> bool:
    """Whether a file is in an installed package, and so a library's."""
    return "/site-packages/" in file or "/dist-packages/" in file


def is_of_others(file: str) -> bool:
    """Whether a file is not the program's: installed, or Python's own."""
    return is_installed(file) or "/lib/python3" in file or file.startswith("<frozen ")


def _line(entry: str) -> tuple[str, int] | None:
    file, _, rest = entry.partition('", line ')
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return (file, int(digits)) if digits else None
