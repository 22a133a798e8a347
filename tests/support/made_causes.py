"""Recompiles and their causes, of made-up reasons."""

from pathlib import Path

from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import (
    CompileId,
    GuardCheck,
    GuardSet,
    Place,
    Process,
    RecompileReasons,
    StackFrame,
    Symbol,
)
from dynamo_core.recording.guards import parse_guard_failure
from support.made import compiled, with_fields

FILE = "/home/me/train.py"


def process(*reasons: list[str], dynamic: bool | None = None, **fields: object) -> Process:
    """A process that was compiled again for each of `reasons`, which are those of its entries."""
    again = [compiled(number, reason=each[0], dynamic=dynamic) for number, each in enumerate(reasons, 1)]
    told = [
        RecompileReasons(CompileId(0, number), tuple(map(parse_guard_failure, each)))
        for number, each in enumerate(reasons, 1)
    ]
    fields = {"torch_version": "2.13.0", **fields}
    process = Process(Path("s.log"), compiles=[compiled(0), *again], recompile_reasons=told)
    return with_fields(process, fields)


def causes(*reasons: list[str], **fields: object) -> list[RecompileCause]:
    one = process(*reasons, **fields)  # type: ignore[arg-type]
    (frame,) = frames_recompiled([one])
    return causes_of(frame)


def size(expected: int, actual: int, at: int = 0, entry: int = 0) -> str:
    return f"0/{entry}: tensor 'x' size mismatch at index {at}. expected {expected}, actual {actual}"


def opened(source: str = "L['x'].size()[0]", compile_: int = 1) -> Symbol:
    line = StackFrame(Place(FILE, 4), "f", "y = x * 2")
    return Symbol(CompileId(0, compile_), "s0", "5", source, line.place, (line,))


def entry(number: int, *codes: str, source: str = "L['x']") -> GuardSet:
    checks = tuple(
        GuardCheck("LAMBDA_GUARD", source, code, "y = x * 2", Place("me/train.py", 4), "f") for code in codes
    )
    return GuardSet(CompileId(0, number), checks=checks)
