"""`dynamo guards` as JSON: one declaration for the document and its schema."""

from dataclasses import field, replace
from typing import Annotated

from dynamo_core.analysis.guard_text import TensorCheck, check_words, guard_words, tensor_check
from dynamo_core.model import CompileId, Guard, GuardCheck, Place, Process, Recording
from dynamo_core.recording.guards import split_comment
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import INLINE, At
from dynamo_core.shared.quick_dataclass import dataclass

from .groups import Difference, Entry, by_frame, differences, entries_of, with_relations, without_guards


@dataclass(frozen=True)
class GuardAskedFor:
    """A condition that Dynamo asked for."""

    guard: Guard = field(metadata=INLINE)
    words: Annotated[str, "the condition in words"]


@dataclass(frozen=True)
class TensorDemanded:
    """What a TENSOR_MATCH demands."""

    check: TensorCheck = field(metadata=INLINE)
    device: Annotated[str | None, "cuda:0, as the dispatch keys and the index say"]
    dynamic_dims: Annotated[tuple[int, ...], "the dimensions that may have any size"]


@dataclass(frozen=True)
class Check:
    """A leaf of torch's guard tree, in the order of evaluation."""

    check: GuardCheck = field(metadata=INLINE)
    note: Annotated[str | None, "what torch notes on it"]
    words: Annotated[str, "the check in words; torch's text where there are none"]
    tensor: Annotated[TensorDemanded | None, "null for other checks than TENSOR_MATCH"]


@dataclass(frozen=True)
class CacheEntry:
    """Under which conditions what a compile made may be used again. Counts and times are torch's own."""

    process: Process
    compile_id: Annotated[CompileId | None, At("guard_set.compile_id")]
    generation: Annotated[
        int, "how often the compile id was met before in the process, as after torch._dynamo.reset()"
    ]
    name: Annotated[str | None, At("compile.name"), "of the frame"]
    place: Annotated[Place | None, At("compile.place"), "of the frame"]
    guard_count: Annotated[int | None, "torch's guard_count: the guards that Dynamo asked for"]
    check_count: Annotated[
        int | None, "the lines with a check in torch's guard tree; one check may have several"
    ]
    latency_us: Annotated[
        float | None,
        At("guard_set.latency_us"),
        "what one evaluation of all checks took, in microseconds, with a flushed cache: torch's figure, not "
        "what a call pays",
    ]
    guards: Annotated[
        list[GuardAskedFor] | None,
        "what Dynamo asked for, by source; null in a trace that is not of dynamo run",
    ]
    checks: Annotated[list[Check] | None, "what is checked"]


@dataclass(frozen=True)
class EntriesDiffer:
    """A source of which the cache entries of a frame demand different things."""

    process: Process
    difference: Difference = field(metadata=INLINE)


@dataclass(frozen=True)
class NotRecorded:
    """A compile whose guards are not there."""

    process: Process
    reason: Annotated[str, "which compile, and why"]


@dataclass(frozen=True)
class Guards:
    """Under which conditions each cache entry may be used again."""

    entries: Annotated[list[CacheEntry], "by frame"]
    differences: Annotated[
        list[EntriesDiffer],
        "what tells the cache entries of a frame apart: first what all of them demand, but not alike",
    ]
    not_recorded: list[NotRecorded]


def guards_of(recording: Recording) -> Guards:
    """The guards of every cache entry, and what tells the entries of a frame apart."""
    found = Guards([], [], [])
    for process in recording.processes:
        entries = entries_of(process)
        found.entries.extend(_entry(process, entry) for entry in entries)
        for frame in by_frame(entries):
            apart = differences([entry.guard_set for entry in frame]) if len(frame) > 1 else []
            found.differences.extend(EntriesDiffer(process, difference) for difference in apart)
        found.not_recorded.extend(NotRecorded(process, reason) for reason in without_guards(process, entries))
    return found


def _entry(process: Process, entry: Entry) -> CacheEntry:
    guards, checks = entry.guard_set.guards, entry.guard_set.checks
    return from_fields(
        CacheEntry,
        entry,
        process=process,
        check_count=None if checks is None else len(checks),
        guards=None if guards is None else list(map(_guard, guards)),
        checks=None if checks is None else list(map(_check, checks, with_relations(checks))),
    )


def _guard(guard: Guard) -> GuardAskedFor:
    return GuardAskedFor(guard, guard_words(guard.type, guard.source, guard.code))


def _check(check: GuardCheck, in_full: GuardCheck) -> Check:
    code, note = split_comment(check.code)
    tensor = tensor_check(code) if check.type == "TENSOR_MATCH" else None
    return Check(
        replace(check, code=code),
        note,
        check_words(check.type, in_full.code, check.source),
        None if tensor is None else from_fields(TensorDemanded, tensor, check=tensor),
    )
