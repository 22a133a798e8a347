"""What running the graphs took, call by call, and what checking their guards did."""

from collections.abc import Iterator

from dynamo_core.analysis.source_lines import UserCallSites
from dynamo_core.analysis.time.steps import GraphTime, first_call, frame_text, steady_mean
from dynamo_core.analysis.words import (
    compile_label,
    graph_frame,
    number,
    process_title,
    seconds,
    seconds_in_calls,
)
from dynamo_core.case import Case
from dynamo_core.model import CallTimes, Process, Recording

from ..documents import shares_of
from ..page.blocks import Block, Column, Heading, Paragraph, Table, rest, table

_ROWS_SHOWN = 5
_COLUMNS = [
    Column("frame", is_above=True),
    Column("graph"),
    *(Column(name, True) for name in ("calls", "total", "share", "first", "others", "p50", "p99")),
]


def run_time_blocks(case: Case, show_all: bool) -> Iterator[Block]:
    """The graphs by the time in them; then what evaluating guards took."""
    recording, found = case.recording, case.figures.graph_times
    forked = [process for process in recording.processes if process.inherited_calls]
    if not found and not forked:
        counted = any(graph.times is not None for process in recording.processes for graph in process.graphs)
        running = any(graph.is_running for process in recording.processes for graph in process.graphs)
        none = "the first call has not returned" if running else "none was called"
        yield Heading("Run time of the graphs: " + (none if counted else "not recorded"))
        return
    spent = [*(each.seconds for each in found), *(child.inherited_seconds for child in forked)]
    total, shares = sum(spent), shares_of(spent, sum(spent))
    calls = sum([*(each.times.calls for each in found), *(child.inherited_calls for child in forked)])
    yield Heading(f"Run time of the graphs: {seconds(total)} in {number(calls, 'call')}")
    shown = found if show_all else found[:_ROWS_SHOWN]
    has_device = any(each.has_device_time for each in found)
    user_call_sites = {id(process): UserCallSites(process) for process in recording.processes}
    rows = [
        row
        for each, share in zip(shown, shares, strict=False)
        for row in _rows(each, recording, share, has_device, user_call_sites[id(each.process)])
    ]
    rows += [
        _inherited(child, recording, share, has_device)
        for child, share in zip(forked, shares[len(found) :], strict=True)
    ]
    yield Table([*_COLUMNS, *([Column("on the GPU", True)] if has_device else [])], rows)
    yield from rest(len(found) - len(shown), "graph", ": --all.")
    on_device = "; on the GPU: on its stream, the mean of a sample" if has_device else ""
    share = "share: with its backward; " if any(each.graph.backward for each in found) else ""
    yield Paragraph(f"Host time. {share}others: the mean; p50 and p99 to within 6 %{on_device}.", "dim")
    if any(times and times.untimed for each in found for times in (each.graph.times, each.graph.backward)):
        yield Paragraph(
            "Sampled: of a graph whose calls take less than 20 µs, all calls are counted and only some are "
            "timed; the total is extrapolated from those.",
            "dim",
        )
    yield from _guards(found, recording, show_all)


def _rows(
    each: GraphTime, recording: Recording, share: str, has_device: bool, user_call_sites: UserCallSites
) -> Iterator[list[str]]:
    graph = each.graph
    name = f"{graph.number} {compile_label(graph.compile_id)}{process_title(each.process, recording)}"
    figures = [*_figures(each.times), share, *_single_calls(each.times, has_device)]
    yield [frame_text(graph, user_call_sites), name, *figures]
    if graph.backward is not None and graph.backward.calls:
        yield ["", "  backward", *_figures(graph.backward), "", *_single_calls(graph.backward, has_device)]


def _inherited(child: Process, recording: Recording, share: str, has_device: bool) -> list[str]:
    """The calls of graphs of its parent's in one row: which is which, a forked process does not know."""
    name = f"inherited{process_title(child, recording)}"
    figures = [f"{child.inherited_calls:,}", seconds(child.inherited_seconds), share]
    return ["graphs of its parent", name, *figures, *[""] * (5 if has_device else 4)]


def _figures(times: CallTimes) -> list[str]:
    return [f"{times.calls:,}", seconds_in_calls(times.seconds, times)]


def _single_calls(times: CallTimes, has_device: bool) -> list[str]:
    mean = steady_mean(times)
    return [
        seconds(first_call(times)),
        "" if mean is None else seconds(mean),
        seconds(times.percentile(0.5)),
        seconds(times.percentile(0.99)),
        *([seconds(times.device_seconds)] if has_device else []),
    ]


def _guards(found: list[GraphTime], recording: Recording, show_all: bool) -> Iterator[Block]:
    timed = [each for each in found if each.times.guard_seconds is not None]
    if not timed:
        yield Heading("Guards: what evaluating them takes was not recorded")
        return
    timed.sort(key=lambda each: -(each.times.guard_seconds_in_all or 0.0))
    total = sum(each.times.guard_seconds_in_all or 0.0 for each in timed)
    yield Heading(f"Guards: about {seconds(total)}, from a sample of evaluations")
    rows = []
    for each in timed if show_all else timed[:_ROWS_SHOWN]:
        graph, own, call = each.graph, each.times.guard_seconds or 0.0, each.times.percentile(0.5)
        rows.append(
            [
                f"{compile_label(graph.compile_id)}{process_title(each.process, recording)}",
                graph_frame(graph),
                f"{each.times.calls:,}",
                seconds(own),
                seconds(each.times.guard_seconds_in_all),
                f"{own / call:.0%}" if call else "",
            ]
        )
    yield table("cache entry|frame|evaluated>|each>|in all>|beside a median call>", rows)
    yield from rest(len(timed) - len(rows), "cache entry", ": --all.", "cache entries")
    yield Paragraph(
        "Evaluations that failed on another entry of the same frame come on top; they are not counted.", "dim"
    )
