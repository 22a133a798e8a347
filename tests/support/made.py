"""Parts of recordings that unit tests make by hand, where several make the same."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dynamo_core.model import (
    GROUPS,
    AotPair,
    CallSample,
    CallTimes,
    CaptureDecision,
    Compile,
    CompileId,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Run,
    SavedTensor,
    TensorInfo,
    VerifiedProgramCall,
)

MS = 1_000_000  # nanoseconds
S = 1_000 * MS
FIRST = CompileId(0, 0)
_ENDED = Run(exit_code=0)


def with_fields(process: Process, fields: Mapping[str, Any]) -> Process:
    """The process with these fields, each in the group that has it."""
    for name, value in fields.items():
        (part,) = [
            each
            for each in (process, *vars(process).values())
            if (each is process or isinstance(each, GROUPS)) and name in vars(each)
        ]
        setattr(part, name, value)
    return process


def of_one_process(run: Run | None = _ENDED, /, **fields: object) -> Recording:
    """A recording by us of one process, with these fields."""
    process = Process(Path("s.log"), info=ProcessInfo(pid=1), torch_version="2.13.0")
    process = with_fields(process, fields)
    return Recording(Path("rec"), run, [process], 1, [])


def called(begins: Iterable[float], seconds: float = 1e-3, *, unit: int = MS) -> CallTimes:
    """Calls that began then (in milliseconds, if the unit is no other), all of them noted."""
    samples = tuple(CallSample(number, int(at * unit), seconds) for number, at in enumerate(begins, 1))
    calls = len(samples)
    return CallTimes(calls, seconds * calls, {(1, 2): calls}, samples[:52], samples, None)


def compiled(
    number: int, seconds: float = 1.0, reason: str | None = None, dynamic: bool | None = None
) -> Compile:
    """The compile of this number of frame 0, a function in train.py."""
    at = Place("/home/me/train.py", 3)
    return Compile(
        CompileId(0, number),
        "f",
        at,
        seconds,
        True,
        1,
        1,
        reason,
        None,
        None,
        {},
        None,
        None,
        dynamic=dynamic,
    )


def saved(name: str, size: int, kind: str = "activation", place: Place | None = None) -> SavedTensor:
    """A tensor of so many bytes that a graph keeps for its backward."""
    tensor = TensorInfo((size // 4,), (1,), "float32", "cpu")
    return SavedTensor(name, kind, "aten.detach", tensor, None, size, name, size, place)  # type: ignore[arg-type]


def pair_of(*kept: SavedTensor) -> AotPair:
    """A forward and a backward, and what the one keeps for the other."""
    return AotPair(FIRST, 0, 1, None, {}, {}, 1, 1, 1, 1, kept, {})


def decided(decision: str = "capture", **known: Any) -> CaptureDecision:
    """A decision on a program, of policy `loops` with Inductor where nothing else is said."""
    usual = {"because": None, "policy": "loops", "backend": "inductor", "fallback_random": False}
    return CaptureDecision(decision=decision, **usual | known)


def verified_call_of(file: str, **known: Any) -> VerifiedProgramCall:
    """A call of `f`, compiled at line 3 of a file, that was compared with plain Python, with these fields."""
    values: dict[str, Any] = dict.fromkeys(each.name for each in fields(VerifiedProgramCall))
    values |= {"name": "f", "compiled_at": Place(file, 3), "call": 1, "compared": 1, "seconds": 1.0}
    return VerifiedProgramCall(**values | known)
