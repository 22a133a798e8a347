"""The report of `dynamo autotune`: every candidate on every graph, the winners, and what they gain."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from dynamo_core.analysis.graphs.nodes import TIMES, place_in
from dynamo_core.analysis.graphs.program import CONTENTS
from dynamo_core.analysis.words import compile_label, count_text, number, seconds
from dynamo_core.bench.autotune.rounds import Decision, standing
from dynamo_core.bench.autotune.tuning import DistinctGraph, Result
from dynamo_core.case import Case
from dynamo_core.model import Recording
from dynamo_core.shared.winners import AGREES, Measurement

from .autotune_document import (
    Tuning,
    autotuned_of,
    candidates_intervals,
    candidates_table,
    measurement_of,
    measurements_of,
    seconds_beside,
)
from .page.blocks import Block, Bullets, Heading, Paragraph, section, table
from .report import Report

# What the rounds did not decide, and how busy the machine was meanwhile.


# The page says so where something waited for a processor in this share of a batch, and of the batches.
_BUSY = 0.1


def undecided_blocks(undecided: Sequence[tuple[DistinctGraph, Result, Decision]]) -> Iterator[Block]:
    """The graphs without a winner: what is open, what is done about it, and what would decide."""
    if not undecided:
        return
    yield Heading("Undecided")
    yield Bullets([_what_is_open(*each) for each in undecided], "warning")
    yield Paragraph(
        "Nothing was stored for them: `--backend autotuned` leaves them to the next backend of its chain, or "
        "to Inductor. What decides: a machine that does nothing else, or a longer --budget."
    )


def _what_is_open(graph: DistinctGraph, result: Result, decision: Decision) -> str:
    which = f"graph {graph.first.number}"
    if not decision.between or result.tuned is None:
        return f"{which}: no candidate could be used"
    sound = [each for each in result.tuned.measurements if each.verdict == AGREES]
    rounds = max(len(each.rounds) for each in sound)
    counted = min(len(each.counted) for each in sound if len(each.rounds) == rounds)
    text = f"{which}: {_listed(decision.between)}, after {number(rounds, 'round')}"
    if counted < rounds:
        text += f", of which {counted} count: in others threads waited, or new processes did not confirm them"
    return text + ("" if result.stored is None else f". The winner of {result.stored.measured} stays stored")


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def busy_blocks(measurements: Sequence[Measurement]) -> Iterator[Block]:
    """How much else went on, where that was more than a little."""
    rounds = [each for one in measurements for each in one.rounds if each.busy is not None]
    busy = [each for each in rounds if (each.busy or 0.0) > _BUSY]
    held_up = sum(not each.counts for each in rounds)
    if len(busy) > _BUSY * len(rounds):
        left_out = f"; {held_up} batches do not count" if held_up else ""
        yield Paragraph(
            f"The machine was busy: in {len(busy)} of {len(rounds)} batches of calls, something waited for a "
            f"processor for more than {_BUSY * 100:.0f} % of the time. What a single thread waited is left "
            f"out of its time{left_out}.",
            "warning",
        )


_TABLES_SHOWN = 8


def report(tune: Callable[[Recording], Tuning], show_all: bool) -> Report[Case]:
    """The report of what `tune` measures; with `show_all`, a table for every graph."""
    return Report(
        "autotune",
        lambda case: list(_page(tune(case.recording), show_all)),
        lambda case: autotuned_of(tune(case.recording)),
        CONTENTS,
    )


def _page(tuning: Tuning, show_all: bool) -> Iterator[Block]:
    winners = Counter(best.candidate for _, _, best in tuning.tuned)
    text = ", ".join(f"{name} for {count}" for name, count in winners.most_common())
    heading = number(len(tuning.graphs), "distinct graph")
    undecided = f"; undecided for {len(tuning.undecided)}" if tuning.undecided else ""
    best = f"; the best backend is {text}" if text else "" if undecided else ", none measured"
    yield Heading(f"{heading}{best}{undecided}", 1)
    if tuning.tuned:
        yield from _gain(tuning)
    if not any(result.is_new for result in tuning.results) and tuning.tuned:
        yield Paragraph(f"Nothing was new; all is from {tuning.file}. --again measures it again.", "dim")
    elif tuning.tuned:
        kept = f"Winners are kept in {tuning.file}: `dynamo run --backend autotuned` uses them."
        yield Paragraph(kept, "dim")
    yield Bullets([f"{name} cannot be used here: {why}" for name, why in tuning.unusable.items()])
    if tuning.tuned:
        yield _overview(tuning)
    yield from undecided_blocks(tuning.undecided)
    yield from busy_blocks(
        [each for result in tuning.results if result.is_new for each in measurements_of(result)]
    )
    yield from _problems(tuning)
    shown = [
        (graph, result) for graph, result in zip(tuning.graphs, tuning.results, strict=True) if result.tuned
    ]
    if len(shown) > _TABLES_SHOWN and not show_all:
        yield Paragraph(f"--all shows every candidate's times for each of {len(shown)} graphs.", "dim")
        return
    for graph, result in shown:
        yield from _section(graph, result)


def _gain(tuning: Tuning) -> Iterator[Block]:
    """What all recorded calls take with the winners, and with each backend that could be timed on all."""
    pairs = [(graph, result, best, graph.calls) for graph, result, best in tuning.tuned if graph.calls]
    if not pairs:
        yield Paragraph("No calls were recorded of what was measured, so there is no total.")
        return
    ours = sum((best.seconds or 0.0) * calls for _, _, best, calls in pairs)
    rows = [["the winners", seconds(ours), ""]]
    for backend in _single_backends(tuning):
        theirs = 0.0
        for _, result, best, calls in pairs:
            single = measurement_of(result, backend)
            took = None if single is None else _comparable_seconds(single, best)
            if took is None:
                break
            theirs += took * calls
        else:
            rows.append([f"{backend} alone", seconds(theirs), _factor(theirs, ours)])
    calls_in_all = sum(calls for _, _, _, calls in pairs)
    yield Paragraph(f"The {number(calls_in_all, 'recorded call')} of them, at these times a call, take:")
    yield table("with|in all>|beside the winners>", rows)


def _single_backends(tuning: Tuning) -> list[str]:
    """Every candidate, the recording's own backend first."""
    names = [graph.backend for graph, _, _ in tuning.tuned if graph.backend is not None]
    names += [each.candidate for _, result, _ in tuning.tuned for each in measurements_of(result)]
    return list(dict.fromkeys(names))


def _overview(tuning: Tuning) -> Block:
    rows = []
    devices = {result.tuned.conditions.device for _, result, _ in tuning.tuned if result.tuned}
    for graph, result, best in tuning.tuned:
        current = None if graph.backend is None else measurement_of(result, graph.backend)
        rows.append(
            [
                str(graph.first.number),
                count_text(graph.calls),
                best.candidate,
                seconds(best.seconds),
                _times(measurement_of(result, "eager"), best),
                _times(current, best) if graph.backend != "eager" else "",
                result.tuned.conditions.device if result.tuned and len(devices) > 1 else "",
                place_in(graph.first),
            ]
        )
    current_name = next((graph.backend for graph, _, _ in tuning.tuned if graph.backend), "recorded")
    beside = f"vs {current_name}>" if current_name != "eager" else ">"
    return table(
        f"graph>|calls>|winner|a call>|vs eager>|{beside}|{'on' if len(devices) > 1 else ''}|from", rows
    )


def _times(other: Measurement | None, best: Measurement) -> str:
    """How many times as long the other takes."""
    took = None if other is None or other is best else seconds_beside(other, best)
    if other is None or took is None or not best.seconds:
        return ""
    return "no faster" if standing(other, best) == "no faster" else _factor(took, best.seconds)


def _comparable_seconds(other: Measurement, best: Measurement) -> float | None:
    """What is no faster than the winner is not called faster for what is within its margin."""
    took = seconds_beside(other, best)
    return None if took is None else max(took, best.seconds or 0.0)


def _factor(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.2f}{TIMES}"


def _problems(tuning: Tuning) -> Iterator[Block]:
    """Graphs that could not be measured, and candidates that were rejected, failed or declined."""
    parts: dict[str, list[int]] = {}
    for graph, result in zip(tuning.graphs, tuning.results, strict=True):
        if result.tuned is None:
            parts.setdefault(f"not measured: {result.problem}", []).append(graph.first.number)
        for each in measurements_of(result):
            if each.verdict != AGREES:
                parts.setdefault(f"{each.candidate} {_verdict(each)}", []).append(graph.first.number)
    yield from section(
        "Not measured, or rejected",
        Bullets([f"{_graph_numbers(numbers)}: {what}" for what, numbers in parts.items()], "warning"),
    )


def _graph_numbers(numbers: Sequence[int]) -> str:
    return f"graph{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _section(graph: DistinctGraph, result: Result) -> Iterator[Block]:
    assert result.tuned is not None
    first = graph.first
    others = [str(member.number) for _, member in graph.members[1:]]
    same = f", the same as {', '.join(others)}" if others else ""
    yield Heading(
        f"Graph {first.number} {compile_label(first.compile_id)}{same}: {number(first.ops, 'op')}, "
        f"{number(graph.calls, 'call')}, from {result.tuned.from_}"
    )
    tuned = result.tuned
    sizes = f", sizes {', '.join(tuned.conditions.sizes)}" if tuned.conditions.sizes else ""
    host = "" if result.host is None else f"{result.host}: "
    yield Paragraph(
        f"on {host}{tuned.conditions.device}, torch {tuned.conditions.torch}{sizes}"
        + (", forward and backward" if any(each.backward_seconds for each in tuned.measurements) else "")
        + ("" if result.is_new else f"; measured {tuned.measured}"),
        "dim",
    )
    yield candidates_table(tuned.measurements, tuned.winner)
    yield from candidates_intervals(tuned.measurements, tuned.winner)


def _verdict(measurement: Measurement) -> str:
    if measurement.reason is None:
        return measurement.verdict
    if measurement.reason.startswith(measurement.verdict):
        return measurement.reason
    return f"{measurement.verdict}: {measurement.reason}"
