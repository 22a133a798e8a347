"""Recompiles: frame by frame and in order, which guard failed on which values, and what to do about it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from dynamo_core.analysis.guard_failures import actual_value, what_differed
from dynamo_core.analysis.recompile_causes import causes_of
from dynamo_core.analysis.recompile_lines import line_of_recompile
from dynamo_core.analysis.recompile_sentences import also_changed_words
from dynamo_core.analysis.recompiles import FrameRecompiles, Moment, how_often_eager, moment_of
from dynamo_core.analysis.summary import recompiles_recorded
from dynamo_core.analysis.words import (
    alternatives,
    compile_label,
    first_line,
    frame_name,
    number,
    place,
    process_title,
    seconds,
)
from dynamo_core.case import Case
from dynamo_core.findings.recompiles import ranked_recompiles
from dynamo_core.model import Compile, CompileId, GuardFailure, Place, Process, Recording, StackFrame
from dynamo_core.recording.calls import CALL_SAMPLES
from dynamo_core.recording.guards import plain_source
from dynamo_core.remedies.recompile_rules import recompile_advice
from dynamo_core.remedies.this_run import suited_to_the_run
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At
from dynamo_core.shared.failed_guard import source_words, without_stack_names
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Bullets, Heading, Paragraph, Table, table
from .parts.after_freeze import FreezeDocument, after_freeze, freeze_of
from .report import Detail, Report


def advice_for(frame: FrameRecompiles, recording: Recording) -> list[str]:
    """What to do about each cause, the most frequent first; not what the run had already."""
    causes = sorted(causes_of(frame), key=lambda cause: -len(cause.met))
    compile_ids = [compile_.compile_id for compile_ in frame.compiles]
    advised = [
        suited_to_the_run(recompile_advice(cause), recording, (frame.process,), compile_ids, frame.place)
        for cause in causes
    ]
    texts = [alternatives(advice.text for advice in of_cause) for of_cause in advised]
    return list(dict.fromkeys(text for of_cause in texts for text in of_cause))


@dataclass(frozen=True)
class DynamicSize:
    """What a compile of the frame made dynamic."""

    source: str
    symbol: Annotated[str, At("name")]
    compile_id: CompileId | None


@dataclass(frozen=True)
class Recompile:
    """One compile of a frame that was compiled before."""

    compile_id: CompileId | None
    seconds: Annotated[float | None, "with the compile of its backward graph"]
    served: Annotated[int | None, "calls of what it made, to the end; null where they were not counted"]
    moment: Annotated[Moment, "when it began"]
    reason: Annotated[str | None, At("recompile_reason"), "torch's"]
    failures: Annotated[list[GuardFailure], "newest entry first"]


@dataclass(frozen=True)
class RecompiledFrame:
    """A frame and its recompiles, in order."""

    process: Process
    name: str | None
    place: Place | None
    seconds: Annotated[float, "of all recompiles of the frame"]
    limit_hit: Annotated[
        CompileId | None,
        At("limit.compile_id"),
        "the compile that torch refused; the frame ran eager from then on",
    ]
    dynamic: Annotated[list[DynamicSize], "what the frame's compiles made dynamic"]
    advice: Annotated[list[str], "ours"]
    recompiles: list[Recompile]


@dataclass(frozen=True)
class Recompiles:
    """Which guard failed, on which values, and what to do about it."""

    frames: Annotated[list[RecompiledFrame], "in the order of the findings"]
    freeze: Annotated[FreezeDocument | None, "of --freeze-after; null where it was not given"]


def recompiles_of(case: Case) -> Recompiles:
    """The frames that were compiled more than once."""
    frames = [_frame_document(frame, case.recording) for frame in ranked_recompiles(case.figures)]
    return Recompiles(frames, freeze_of(case.recording))


def _frame_document(frame: FrameRecompiles, recording: Recording) -> RecompiledFrame:
    return from_fields(
        RecompiledFrame,
        frame,
        dynamic=[from_fields(DynamicSize, each) for each in frame.symbols],
        advice=advice_for(frame, recording),
        recompiles=[
            from_fields(
                Recompile,
                compile_,
                seconds=frame.records.seconds(compile_),
                served=frame.calls(compile_),
                moment=moment_of(compile_.compile_id, frame.records, recording),
                failures=[
                    replace(
                        failure,
                        expected=frame.expected(compile_, failure),
                        actual=frame.actual(compile_, failure),
                        place=frame.place_of(failure),
                    )
                    for failure in frame.failures(compile_)
                ],
            )
            for compile_ in frame.compiles
        ],
    )


_NOT_RECORDED = "not recorded"
_NAMES_SHOWN = 8  # of what was made dynamic: a list of numbers has one for each


def report(*, show_all: bool = False) -> Report[Case]:
    """The report of `dynamo recompiles`; with `show_all`, every cache entry that failed."""
    return Report("recompiles", lambda case: _page(case, show_all), recompiles_of, frozenset({CALL_SAMPLES}))


def recompile_blocks(compile_: Compile, detail: Detail) -> list[Block]:
    """One recompile and torch's reason for it; nothing of a first compile."""
    if compile_.recompile_reason is None:
        return []
    title = f"recompile {compile_label(compile_.compile_id)} "
    title += f"{frame_name(compile_.name, compile_.method)} ({place(compile_.place)})"
    if detail is Detail.LESS:
        check = first_line(compile_.recompile_reason).partition("  # ")[0]  # without the line it comes from
        return [Heading(f"{title}: {without_stack_names(check).strip()}", 3)]
    reason = without_stack_names(compile_.recompile_reason.strip())
    blocks: list[Block] = [Heading(title, 3), Paragraph(reason)]
    if detail is Detail.MORE:
        blocks.append(Paragraph(f"it took {seconds(compile_.seconds)}", "dim"))
    return blocks


def _page(case: Case, show_all: bool) -> Iterator[Block]:
    recording = case.recording
    found = ranked_recompiles(case.figures)
    if not found:
        known = recompiles_recorded(recording)
        yield Heading("No recompiles." if known else "Recompiles were not recorded.", 1)
        yield from after_freeze(recording)
        return
    count = sum(len(frame.compiles) for frame in found)
    limited = sum(frame.limit is not None for frame in found)
    title = f"{number(count, 'recompile')} of {number(len(found), 'frame')}"
    yield Heading(title + (f"; {number(limited, 'frame')} hit the recompile limit" if limited else ""), 1)
    for frame in found:
        yield from _frame(frame, recording, show_all)
    yield from after_freeze(recording)


def _frame(frame: FrameRecompiles, recording: Recording, show_all: bool) -> Iterator[Block]:
    where = f"{frame.shown_name} ({place(frame.place)}){process_title(frame.process, recording)}"
    yield Heading(f"{where}: {number(len(frame.compiles), 'recompile')}, {seconds(frame.seconds)}")
    rows = []
    others = 0
    ids = [compile_.compile_id for compile_ in frame.compiles]
    moments = {each: moment_of(each, frame.records, recording) for each in ids}
    # Where the line is that of a call, each recompile has its own.
    lines = {
        compile_.compile_id: frame.call(compile_) if cause.where == cause.call else cause.where
        for cause in causes_of(frame)
        for compile_ in cause.compiles
    }
    threads = any(moment.thread is not None for moment in moments.values())
    for compile_ in frame.compiles:
        failures = frame.failures(compile_)
        nearest = frame.nearest(compile_)
        shown = failures if show_all or nearest is None else (nearest,)
        others += len(failures) - len(shown)
        own = lines.get(compile_.compile_id)
        text = [_row(frame, compile_, each, own) for each in shown] or [_unexplained(frame, compile_, own)]
        moment = _when(moments[compile_.compile_id], threads)
        rows += [[row[0], row[1], *moment, *row[2:]] for row in text]
    when = "at>|call>|thread" if threads else "at>|call>"
    headings = f"line|compile|{when}|took>|calls>|entry|what differed|expected|got"
    yield _under_lines(table(headings, rows))
    if others:
        yield Paragraph(f"Other entries failed too ({number(others, 'check')}): --all shows them.", "dim")
    if frame.limit is not None:
        since = (
            "a call that fit no entry raised an error"
            if frame.raised_at_limit
            else f"calls that fit no entry have run eager since, {how_often_eager(frame)}"
        )
        refused = compile_label(frame.limit.compile_id)
        yield Paragraph(f"torch refused {refused}, at its recompile limit: {since}.", "warning")
    opened = {plain_source(s.source): s for s in frame.symbols}
    if opened:
        symbols = [f"{without_stack_names(source)} ({symbol.name})" for source, symbol in opened.items()]
        names = ", ".join(symbols[:_NAMES_SHOWN])
        if len(symbols) > _NAMES_SHOWN:
            names += f" and {len(symbols) - _NAMES_SHOWN} more"
        yield Paragraph(without_stack_names(f"Dynamic in a recompile: {names}."))
    for cause in causes_of(frame):
        if also := also_changed_words(cause):
            beside = f"Beside {source_words(cause.source)}, " if cause.source else ""
            yield Paragraph(f"{beside}{also}.")
    yield Bullets(advice_for(frame, recording), "advice")


def _when(moment: Moment, threads: bool) -> list[str]:
    """Since the program began, in which call of the frame, in which thread unless all are the main one."""
    at = "" if moment.seconds is None else f"{moment.seconds:.2f} s"
    call = "" if moment.call is None else f"{moment.call:,}"
    return [at, call, *([moment.thread or "main"] if threads else [])]


def _under_lines(full: Table) -> Table:
    """The lines above the rows, each once for those that follow each other."""
    first, *others = full.columns
    before = [None, *(row[0] for row in full.rows)]
    rows = [
        ["" if line == above else line, *cells]
        for above, (line, *cells) in zip(before, full.rows, strict=False)
    ]
    return Table([replace(first, is_above=True), *others], rows)


def _row(
    frame: FrameRecompiles, compile_: Compile, failure: GuardFailure, own: StackFrame | None
) -> list[str]:
    """`own` is the program's line that is behind it, which stands for a library's."""
    return [
        _line(line_of_recompile(frame, failure, own)),
        *_cost(frame, compile_),
        compile_label(failure.entry),
        what_differed(failure),
        frame.expected(compile_, failure) or _NOT_RECORDED,
        actual_value(failure, frame.actual(compile_, failure)) or _NOT_RECORDED,
    ]


def _unexplained(frame: FrameRecompiles, compile_: Compile, own: StackFrame | None) -> list[str]:
    reason = without_stack_names((compile_.recompile_reason or _NOT_RECORDED).partition("\n")[0])
    return [_line(own), *_cost(frame, compile_), "", reason, _NOT_RECORDED, _NOT_RECORDED]


def _cost(frame: FrameRecompiles, compile_: Compile) -> list[str]:
    """Which compile, what it took, and how often what it made was called."""
    calls = frame.calls(compile_)
    since = "" if compile_ is frame.limit else _NOT_RECORDED if calls is None else f"{calls:,}"
    return [compile_label(compile_.compile_id), seconds(frame.records.seconds(compile_)), since]


def _line(line: StackFrame | None) -> str:
    return _NOT_RECORDED if line is None else f"{place(line.place)} {line.text}".strip()
