"""What `--freeze-after` came to: when it froze, and the frames that were not compiled because of it."""

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Annotated, ClassVar

from dynamo_core.analysis.guard_failures import actual_value, compiled_for, what_differed
from dynamo_core.analysis.recompiles import seconds_since_begin
from dynamo_core.analysis.words import frame_name, number, place, process_title, seconds
from dynamo_core.model import GuardFailure, NotCompiled, Place, Process, Recording, StackFrame
from dynamo_core.shared.choices import FreezeAfter, is_named_by, parse_freeze_after
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.settings import ON_RECOMPILE_ERROR

from ..page.blocks import Block, Bullets, Heading, Paragraph, table

_VALUES_SHOWN = 8
_WHAT_TO_DO = (
    "What to do: make such calls a part of the warm-up, before the freeze: then they are compiled. Or have "
    "one compiled version serve all values: run without `--freeze-after`, and `dynamo recompiles` says how."
)


@dataclass(frozen=True)
class FreezeOfProcess:
    """Whether a process froze, and how far it was."""

    process: Process
    frozen: Annotated[bool | None, At("interventions.freeze.frozen")]
    calls: Annotated[
        int | None,
        At("interventions.freeze.calls"),
        "that counted when it was frozen, or at the end; null where the name is short for several",
    ]
    seconds: Annotated[
        float | None, At("interventions.freeze.seconds"), "since the last compile, at that moment"
    ]
    at_ns: Annotated[int | None, At("interventions.freeze.at_ns"), "that moment, since the epoch"]


@dataclass(frozen=True)
class ReasonMet:
    """A reason for which a frame would have been compiled, and how often it was met."""

    times: Annotated[int, "in a process that was killed, at least"]
    reasons: Annotated[
        tuple[str, ...] | None,
        "in torch's words, one for each cache entry, the newest first; null for further reasons together",
    ]
    failures: Annotated[tuple[GuardFailure, ...], "the same in parts, where a guard failed"]


@dataclass(frozen=True)
class FrameLeftOut:
    """A frame that would have been compiled."""

    process: Process
    name: Annotated[str | None, "null, with no place, for frames beyond the thousandth"]
    place: Place | None
    times: int
    reasons: list[ReasonMet]


@dataclass(frozen=True)
class FreezeDocument:
    """What `--freeze-after` came to."""

    in_common: ClassVar[str] = "freeze"

    after: Annotated[str | None, "as given"]
    on_recompile: str | None
    processes: list[FreezeOfProcess]
    not_compiled: Annotated[
        list[FrameLeftOut], "frames that would have been compiled, the one met most often first"
    ]


@dataclass(frozen=True)
class Frozen:
    """A frame that was not compiled, with all the reasons for which it would have been."""

    process: Process
    name: str | None
    place: Place | None
    occurrences: tuple[NotCompiled, ...]

    @property
    def times(self) -> int:
        """How often it was met."""
        return sum(each.times for each in self.occurrences)

    @property
    def title(self) -> str:
        """The frame as the user knows it."""
        return frame_name(self.name, self.occurrences[0].method)

    def by_cause(self) -> list["Cause"]:
        """The reasons, those that differ in values only as one, the commonest first."""
        found: dict[str, Cause] = {}
        for each in self.occurrences:
            differing = [what_differed(failure) for failure in each.failures]
            what = differing[0] if differing else "; ".join(each.reasons or ()) or "for other reasons"
            cause = found.setdefault(what, Cause(what))
            cause.elsewhere |= dict.fromkeys(other for other in differing if other != what)
            cause.times += each.times
            cause.noted_ns += () if each.at_ns is None else (each.at_ns,)
            cause.first_call = cause.first_call or each.called_from
            same = [failure for failure in each.failures if what_differed(failure) == what]
            cause.compiled_for |= {value: None for each in same if (value := compiled_for(each)) is not None}
            for value in {
                value: None for each in same if (value := actual_value(each, each.actual)) is not None
            }:
                cause.came[value] = cause.came.get(value, 0) + each.times
        return sorted(found.values(), key=lambda cause: -cause.times)


@dataclass
class Cause:
    """What differed from the newest entry, which values the entries were compiled for, and which came how
    often.
    """

    what: str
    compiled_for: dict[str, None] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)
    elsewhere: dict[str, None] = field(default_factory=dict)  # what differed from older entries
    times: int = 0
    noted_ns: tuple[int, ...] = ()  # when each of them was first met
    first_call: StackFrame | None = None  # the user's line that first called it so, where that is recorded

    def __str__(self) -> str:
        """`value of k: compiled for 1, came 2, 3`."""
        compiled = f"compiled for {values(self.compiled_for)}" if self.compiled_for else ""
        came = f"came {values(self.came_counted())}" if self.came else ""
        known = ", ".join(filter(None, (compiled, came)))
        return f"{self.differed}: {known}" if known else self.differed

    @property
    def differed(self) -> str:
        """What differed from the newest entry, and from older ones."""
        others = f" (from other versions: {', '.join(self.elsewhere)})" if self.elsewhere else ""
        return f"{self.what}{others}"

    def came_counted(self) -> list[str]:
        """`7 (2 times)` for each value; of a single one, `times` says it."""
        if len(self.came) == 1:
            return [*self.came]
        return [value if times == 1 else f"{value} ({times:,} times)" for value, times in self.came.items()]


def frozen_frames(recording: Recording) -> list[Frozen]:
    """The frames that were not compiled, the one met most often first."""
    found = []
    for process in recording.processes:
        by_frame: dict[object, list[NotCompiled]] = {}
        for each in process.interventions.not_compiled:
            by_frame.setdefault((each.name, each.place), []).append(each)
        for same in by_frame.values():
            found.append(Frozen(process, same[0].name, same[0].place, tuple(same)))
    return sorted(found, key=lambda frame: -frame.times)


def freeze_asked_for(recording: Recording) -> FreezeAfter | None:
    """What --freeze-after was given, if it was."""
    after = recording.settings.freeze_after
    try:
        return parse_freeze_after(after) if after is not None else None
    except ValueError:
        return None


def freeze_sentence(recording: Recording) -> str | None:
    """Whether it froze, and after what; None where that was not asked for."""
    after = freeze_asked_for(recording)
    if after is None:
        return None
    parts = [process for process in recording.processes if process.interventions.freeze is not None]
    frozen = [freeze for process in parts if (freeze := process.interventions.freeze) and freeze.frozen]
    if not frozen:
        return f"Not frozen: {_progress(after, parts)}."
    frames = frozen_frames(recording)
    where = f" in {len(frozen)} of {len(parts)} processes" if len(parts) > 1 else ""
    text = f"Frozen after {_wanted(after)}{where}: "
    if not frames:
        return text + "nothing would have been compiled after that."
    became = "raised an error" if recording.settings.on_recompile == ON_RECOMPILE_ERROR else "ran eager"
    return text + (
        f"{number(sum(frame.times for frame in frames), 'call')} of {number(len(frames), 'frame')} "
        f"matched no compiled version, and {became}."
    )


def after_freeze(recording: Recording) -> Iterator[Block]:
    """The section of `dynamo recompiles`."""
    sentence = freeze_sentence(recording)
    if sentence is None:
        return
    yield Heading("After the freeze")
    yield Paragraph(sentence)
    frames = frozen_frames(recording)
    if not frames:
        return
    rows = []
    for frame in frames:
        where = f"{frame.title} ({place(frame.place)}){process_title(frame.process, recording)}"
        for cause in frame.by_cause():
            first = seconds_since_begin(min(cause.noted_ns, default=None), frame.process, recording)
            rows.append(
                [
                    where,
                    f"{cause.times:,}",
                    "" if first is None else f"{first:.2f} s",
                    cause.differed,
                    values(cause.compiled_for),
                    values(cause.came_counted()) or ("not recorded" if cause.compiled_for else ""),
                ]
            )
            where = ""
    yield table("frame|times>|first at>|what differed|expected|got", rows)
    yield Bullets([*_first_calls(frames), _WHAT_TO_DO])


def _first_calls(frames: Iterable[Frozen]) -> Iterator[str]:
    for frame in frames:
        for cause in frame.by_cause():
            call = cause.first_call
            if call is not None:
                line = f": {call.text}" if call.text else ""
                yield f"{frame.title}, {cause.what}: the first such call is at {place(call.place)}{line}"


def frozen_lines(recording: Recording) -> Iterator[str]:
    """For the end of a run: each frame and its commonest reason."""
    for frame in frozen_frames(recording):
        cause, *others = frame.by_cause()
        more = f"; {others[0]}" if others else ""
        more += f"; and for {number(len(others) - 1, 'other reason')}" if others[1:] else ""
        times = number(frame.times, "time")
        yield f"{frame.title} at {place(frame.place)}, {times}: {cause}{more}"


def values(known: Iterable[str]) -> str:
    """The first few, and that there are more."""
    shown = list(known)
    return ", ".join(shown[:_VALUES_SHOWN]) + (", …" if len(shown) > _VALUES_SHOWN else "")


def freeze_of(recording: Recording) -> FreezeDocument | None:
    """What documents say of the freeze; None where none was requested."""
    if freeze_asked_for(recording) is None:
        return None
    return FreezeDocument(
        after=recording.settings.freeze_after,
        on_recompile=recording.settings.on_recompile,
        processes=[from_fields(FreezeOfProcess, each, process=each) for each in recording.processes],
        not_compiled=[
            from_fields(
                FrameLeftOut,
                frame,
                reasons=[from_fields(ReasonMet, each) for each in frame.occurrences],
            )
            for frame in frozen_frames(recording)
        ],
    )


def _wanted(after: FreezeAfter) -> str:
    if after.seconds is not None:
        return f"{after.seconds:g} s without a compile"
    of = f"of {after.function}" if after.function else "of compiled graphs"
    return f"{number(after.calls, 'call')} {of}"


def _progress(after: FreezeAfter, processes: list[Process]) -> str:
    """How far it was from it, in the process that came nearest."""
    reached = [freeze for process in processes if (freeze := process.interventions.freeze) is not None]
    if after.seconds is not None:
        waited = [freeze.seconds for freeze in reached if freeze.seconds is not None]
        if not waited:
            return "nothing was compiled" if reached else "how far it came was not recorded"
        return f"{seconds(max(waited))} of {after.seconds:g} s without a compile"
    calls = [freeze.calls for freeze in reached if freeze.calls is not None]
    names = _compiled_names(processes)
    meant = [] if after.function is None else [each for each in names if is_named_by(each, after.function)]
    if reached and not calls and len(meant) > 1:
        return f"{after.function} is short for several compiled functions: name one of {', '.join(meant)}"
    if not calls:
        return "how far it came was not recorded"
    far = f"{max(calls):,} of {_wanted(after)}"
    if after.function is None or max(calls) or meant or not names:
        return far
    return f"{far}; no compiled function is called {after.function}, compiled are {', '.join(names)}"


def _compiled_names(processes: list[Process]) -> list[str]:
    """What a function may be called by, once each."""
    frames = [frame for process in processes for frame in process.frames if frame.outcome == "compiled"]
    return list(dict.fromkeys(frame_name(frame.name, frame.method) for frame in frames))
