"""Recompiles: frame by frame and in order, which guard failed on which values, and what to do about it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dynamo_core.model import Compile, CompileId, GuardCheck, GuardFailure, Place, Process, Recording, Symbol
from dynamo_core.summary import recorded

from ..detail import Detail
from ..guards.places import whole_places
from ..guards.words import split_note
from ..page.blocks import Block, Bullets, Heading, Paragraph, table
from ..report import Report, id_value, place_value, process_title, process_value
from ..text import compile_label, frame_name, number, place, seconds
from .advice import plain_source, recompile_advice
from .after_freeze import after_freeze, freeze_value
from .failures import failure_value, what_differed

_TYPE = re.compile(r", type=<class '([^']+)'>$")
_LIMIT = re.compile(r"recompile_?\s?limit|cache_size_limit", re.IGNORECASE)


def report(*, show_all: bool = False) -> Report:
    """The report of `dynamo recompiles`; with `show_all`, every cache entry that failed."""
    return Report(
        "dynamo-recompiles",
        1,
        frozenset({"dynamo_cpp_guards_str"}),
        lambda recording: _page(recording, show_all),
        _body,
    )


class CompileRecords:
    """What a process recorded of its compiles, by compile id: found once, however many recompiles ask."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @cached_property
    def failures(self) -> Mapping[CompileId | None, tuple[GuardFailure, ...]]:
        """Why each cache entry could not be used, the newest entry first."""
        # The first record of a compile is the one that counts.
        return {reasons.compile_id: reasons.failures for reasons in reversed(self._process.recompile_reasons)}

    @cached_property
    def checks(self) -> Mapping[CompileId | None, tuple[GuardCheck, ...]]:
        """The guards of the cache entry that a compile made."""
        checks: dict[CompileId | None, tuple[GuardCheck, ...]] = {}
        for guard_set in self._process.guard_sets:
            checks[guard_set.compile_id] = checks.get(guard_set.compile_id, ()) + (guard_set.checks or ())
        return checks

    @cached_property
    def symbols(self) -> Mapping[CompileId | None, list[Symbol]]:
        """What a compile left open."""
        symbols: dict[CompileId | None, list[Symbol]] = {}
        for symbol in self._process.symbols:
            symbols.setdefault(symbol.compile_id, []).append(symbol)
        return symbols

    @cached_property
    def whole_files(self) -> Mapping[str, str | None]:
        """The files that the names in guards, which torch cuts short, stand for."""
        return whole_places(self._process)


@dataclass(frozen=True)
class FrameRecompiles:
    """The recompiles of one frame. `limit` is the compile that torch refused: it ran eager after that."""

    process: Process
    compiles: tuple[Compile, ...]
    limit: Compile | None
    records: CompileRecords

    @property
    def name(self) -> str | None:
        """The function's name."""
        return next((compile_.name for compile_ in self.compiles if compile_.name), None)

    @property
    def place(self) -> Place | None:
        """Where the function begins."""
        return next((compile_.place for compile_ in self.compiles if compile_.place), None)

    @property
    def seconds(self) -> float:
        """What they cost."""
        return sum(compile_.seconds or 0.0 for compile_ in self.compiles)

    @property
    def symbols(self) -> list[Symbol]:
        """What its recompiles left open, in order."""
        again = dict.fromkeys(compile_.compile_id for compile_ in self.compiles)
        return [symbol for compile_id in again for symbol in self.records.symbols.get(compile_id, ())]

    @property
    def advice(self) -> list[str]:
        """What to do about them."""
        newest = [failures[0] for compile_ in self.compiles if (failures := self.failures(compile_))]
        return recompile_advice(newest, self.symbols)

    def failures(self, compile_: Compile) -> tuple[GuardFailure, ...]:
        """Why each cache entry could not be used, the newest entry first; empty where it was not recorded."""
        return self.records.failures.get(compile_.compile_id, ())

    def place_of(self, failure: GuardFailure) -> Place | None:
        """The user's line: torch names it, or the failed entry's own guard on the same source has it."""
        if failure.place is not None:
            return failure.place
        for check in self.records.checks.get(failure.entry, ()):
            if check.place and plain_source(check.source) == failure.source:
                cut = check.place.file
                return check.place._replace(file=self.records.whole_files[cut] or cut)
        return None

    def actual(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """What came instead: torch says it, or the entry that was then compiled is guarded on it."""
        if failure.actual is not None or failure.kind != "value":
            return failure.actual
        for symbol in self.records.symbols.get(compile_.compile_id, ()):
            if plain_source(symbol.source) == failure.source:
                return symbol.hint
        checks = self.records.checks.get(compile_.compile_id, ())
        same = [check for check in checks if plain_source(check.source) == failure.source]
        return next((value for check in same if (value := _demanded(check))), None)


def frames_recompiled(recording: Recording) -> list[FrameRecompiles]:
    """The frames that were compiled again, in the order in which that began."""
    found = []
    for process in recording.processes:
        by_frame: dict[object, list[Compile]] = {}
        for compile_ in process.recompiles:
            by_frame.setdefault(_frame_of(compile_.compile_id), []).append(compile_)
        records = CompileRecords(process)
        for compiles in by_frame.values():
            limit = next((c for c in compiles if is_recompile_limit(c.fail_reason)), None)
            found.append(FrameRecompiles(process, tuple(compiles), limit, records))
    return found


def _frame_of(compile_id: CompileId | None) -> object:
    return compile_id and compile_id._replace(compile=None)


def is_recompile_limit(reason: str | None) -> bool:
    """Whether torch refused to compile a frame once more, so that it runs eager from then on."""
    return bool(reason and _LIMIT.search(reason))


def recompile_blocks(compile_: Compile, detail: Detail) -> list[Block]:
    """One recompile and torch's reason for it."""
    title = f"recompile {compile_label(compile_.compile_id)} "
    title += f"{frame_name(compile_.name)} ({place(compile_.place)})"
    blocks: list[Block] = [Heading(title, 3)]
    if detail is Detail.LESS:
        return blocks
    blocks.append(Paragraph((compile_.recompile_reason or "").strip()))
    if detail is Detail.MORE:
        blocks.append(Paragraph(f"it took {seconds(compile_.seconds)}", "dim"))
    return blocks


def _page(recording: Recording, show_all: bool) -> Iterator[Block]:
    found = frames_recompiled(recording)
    has_metrics = recorded(recording) or any(process.compiles for process in recording.processes)
    if not found:
        yield Heading("No recompiles." if has_metrics else "Recompiles were not recorded.", 1)
        yield from after_freeze(recording)
        return
    count = sum(len(frame.compiles) for frame in found)
    limited = sum(frame.limit is not None for frame in found)
    title = f"{number(count, 'recompile')} of {number(len(found), 'frame')}"
    yield Heading(title + (f"; {number(limited, 'frame')} hit the recompile limit" if limited else ""), 1)
    for frame in sorted(found, key=lambda frame: (frame.limit is None, -frame.seconds)):
        yield from _frame(frame, recording, show_all)
    yield from after_freeze(recording)


def _frame(frame: FrameRecompiles, recording: Recording, show_all: bool) -> Iterator[Block]:
    where = f"{frame_name(frame.name)} ({place(frame.place)}){process_title(frame.process, recording)}"
    yield Heading(f"{where}: {number(len(frame.compiles), 'recompile')}, {seconds(frame.seconds)}")
    rows = []
    others = 0
    for compile_ in frame.compiles:
        failures = frame.failures(compile_)
        shown = failures if show_all else failures[:1]
        others += len(failures) - len(shown)
        rows += [_row(frame, compile_, failure) for failure in shown] or [_untold(compile_)]
    yield table("compile|took>|entry|what differed|compiled for|came|line", rows)
    if others:
        yield Paragraph(f"Older entries failed too ({number(others, 'check')}): --all shows them.", "dim")
    if frame.limit is not None:
        yield Paragraph(
            f"torch refused {compile_label(frame.limit.compile_id)}, at its recompile limit: calls that fit "
            "no entry have run eager since.",
            "warning",
        )
    opened = {plain_source(s.source): s for s in frame.symbols}
    if opened:
        names = ", ".join(f"{source} ({symbol.name})" for source, symbol in opened.items())
        yield Paragraph(f"Left open (dynamic) in a recompile: {names}.")
    yield Bullets(frame.advice, "advice")


def _row(frame: FrameRecompiles, compile_: Compile, failure: GuardFailure) -> list[str]:
    where = frame.place_of(failure)
    return [
        compile_label(compile_.compile_id),
        seconds(compile_.seconds),
        compile_label(failure.entry),
        what_differed(failure),
        failure.expected or "",
        frame.actual(compile_, failure) or "",
        f"{place(where)} {failure.user_code or ''}".strip() if where else "",
    ]


def _untold(compile_: Compile) -> list[str]:
    reason = (compile_.recompile_reason or "not recorded").partition("\n")[0]
    return [compile_label(compile_.compile_id), seconds(compile_.seconds), "", reason, "", "", ""]


def _demanded(check: GuardCheck) -> str | None:
    """The value, or else the type, that a check lets pass."""
    code = split_note(check.code)[0]
    if code.startswith(f"{check.source} == "):
        return code.removeprefix(f"{check.source} == ")
    if check.type == "TENSOR_MATCH":
        return "a tensor"
    named = _TYPE.search(code)
    if named is None or check.type not in ("TYPE_MATCH", "ID_MATCH"):
        return None
    return "None" if named[1] == "NoneType" else f"of type {named[1].removeprefix('builtins.')}"


def _body(recording: Recording) -> dict[str, Any]:
    return {
        "frames": [_frame_value(frame) for frame in frames_recompiled(recording)],
        "freeze": freeze_value(recording),
    }


def _frame_value(frame: FrameRecompiles) -> dict[str, Any]:
    return {
        "process": process_value(frame.process),
        "name": frame.name,
        "place": place_value(frame.place),
        "seconds": frame.seconds,
        "limit_hit": None if frame.limit is None else id_value(frame.limit.compile_id),
        "dynamic": [
            {"source": symbol.source, "symbol": symbol.name, "compile_id": id_value(symbol.compile_id)}
            for symbol in frame.symbols
        ],
        "advice": frame.advice,
        "recompiles": [
            {
                "compile_id": id_value(compile_.compile_id),
                "seconds": compile_.seconds,
                "reason": compile_.recompile_reason,
                "failures": [
                    failure_value(failure, frame.actual(compile_, failure), frame.place_of(failure))
                    for failure in frame.failures(compile_)
                ],
            }
            for compile_ in frame.compiles
        ],
    }
