"""What findings are about, as unit tests make it by hand: graphs, breaks, frames and recompiles."""

from typing import Any

from dynamo_core.model import (
    CallSample,
    CallTimes,
    Compile,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    Place,
    RecompileReasons,
    StackFrame,
)


def times(calls: int, each: float, *, previous: int | None = None, gap: float | None = None) -> CallTimes:
    """So many calls of `each` seconds, `gap` seconds after the call of the callable with index `previous`."""
    samples = tuple(CallSample(n, 10**9 * (n + 1), each, gap, previous) for n in range(1, calls + 1))
    bucket = (int(each * 1e9), int(each * 1e9) + 1)
    return CallTimes(calls, calls * each, {bucket: calls}, samples[:1], samples, None)


def graph(number: int, compile_id: CompileId, **known: object) -> Graph:
    fields = {"calls_index": number, "frame_name": "forward", "ops": 3, "is_compiled": True, **known}
    return Graph(number, compile_id, 0, None, fields.pop("backend", "custom"), **fields)  # type: ignore[arg-type]


def a_break(
    line: int = 7, file: str = "/home/me/train.py", text: str = "print(x)", compile_id: int = 0
) -> GraphBreak:
    stack = (StackFrame(Place(file, line), "forward", text),)
    return GraphBreak("Data-dependent branching", stack, CompileId(compile_id, 0))


def fallback(line: int = 20, reason: str = "generator", file: str = "/home/me/train.py") -> Frame:
    return Frame("tokens", Place(file, line), "failed", reason, False, False, CompileId(9, 0))


def recompile(
    compile_: int = 1, seconds: float = 2.0, fail_reason: str | None = None, line: int = 3
) -> Compile:
    place = Place("/home/me/train.py", line)
    return Compile(
        CompileId(0, compile_),
        "f",
        place,
        seconds,
        True,
        1,
        1,
        "it failed",
        None,
        fail_reason,
        {},
        None,
        None,
    )


def failure(kind: Any = "size", source: str = "x", expected: str = "4", actual: str = "5") -> GuardFailure:
    check = f"tensor '{source}' {kind} mismatch"
    return GuardFailure(CompileId(0, 0), check, kind, source, 0, expected, actual, None, None, None)


def reasons(compile_: int = 1, **known: str) -> RecompileReasons:
    return RecompileReasons(CompileId(0, compile_), (failure(**known),))
