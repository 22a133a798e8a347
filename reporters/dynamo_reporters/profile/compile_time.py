"""Where compile time went: in all, compile by compile as trees of phases, what was lost, what was traced."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.time.compiles import (
    CompileCost,
    Loss,
    Tracing,
    compile_costs,
    seconds_of,
    tracing,
    wasted_compiles,
)
from dynamo_core.analysis.time.phases import CompileSplit, Node, phase_tree, seconds_of_trees
from dynamo_core.analysis.time.wall import COMPILING
from dynamo_core.analysis.words import (
    cache_name,
    compile_label,
    frame_name,
    number,
    place,
    process_title,
    seconds,
)
from dynamo_core.case import Case
from dynamo_core.model import Process

from ..page.blocks import Block, Heading, Paragraph, Table, table

# The records that the reader must load for this.
CONTENTS = frozenset({"chromium_event", "dynamo_tracing_time"})
_COMPILES_LISTED = 5
_ROWS_SHOWN = 5
_LOSSES = (
    ("restarts", "attempts before tracing restarted"),
    ("failed_to_compile", "frames that fell back to eager"),
    ("recompiles", "recompiles"),
)


def compile_time_blocks(case: Case, show_all: bool) -> Iterator[Block]:
    """The page's part on compile time, process by process."""
    for process in case.processes:
        yield from _process(process, case, show_all)


def _process(process: Process, case: Case, show_all: bool) -> Iterator[Block]:
    """The categories are in the table of the wall time already, where there is one."""
    costs, of_process = compile_costs(process), process_title(process, case.recording)
    if not costs:
        yield Heading(f"Compile time{of_process}: nothing was compiled, or it was not recorded")
        return
    whole, wall = case.compile_split(process), case.wall(process)
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    overlapped = whole is not None and bool(whole.overlap_seconds)
    total = whole.total_seconds if whole and (overlapped or not known) else sum(known) if known else None
    compiling = None if wall is None or process.whole is not None else wall.part(COMPILING)
    beside = ""
    if compiling is not None and seconds(compiling.seconds) != seconds(total):
        beside = f"; {seconds(compiling.seconds)} with what Dynamo does around it"
    yield Heading(f"Compile time{of_process}: {seconds(total)}, as torch counts it{beside}")
    if whole is None:
        yield Paragraph("The phases of these compiles were not recorded.", "dim")
    elif show_all or wall is None:
        yield _categories(whole)
        yield from _beside(whole, show_all)
    yield from _compiles(costs, total, show_all)
    yield from _wasted(process, costs, show_all)
    yield from _tracing(tracing(process), of_process, show_all)


def _categories(whole: CompileSplit) -> Table:
    ordered = sorted(whole.categories, key=whole.of, reverse=True)
    has_backward = any(kind.is_backward for kind in whole.kinds)
    rows = []
    for category in ordered:
        directions = [_time(whole.of(category, False)), _time(whole.of(category, True))]
        own = whole.of(category)
        rows.append(
            [category, *(directions if has_backward else []), seconds(own), _share(own, whole.total_seconds)]
        )
    return table(
        "spent on|forward>|backward>|both>|share>" if has_backward else "spent on|time>|share>", rows
    )


def _beside(whole: CompileSplit, show_all: bool) -> Iterator[Block]:
    if whole.parallel_threads:
        yield Paragraph(
            f"Beside the compile: {seconds(whole.parallel_seconds)} in "
            f"{number(whole.parallel_threads, 'worker thread')}, which the compile may have waited for."
        )
    if whole.overlap_seconds:
        yield Paragraph(
            f"Compiles overlapped for {seconds(whole.overlap_seconds)}, inside one another or in threads; "
            "the total has that once."
        )
    passes = list(whole.passes.items())
    shown = passes if show_all else passes[:5]
    if shown:
        text = ", ".join(f"{name} {seconds(value)}" for name, value in shown)
        more = f", and {len(passes) - len(shown)} more (--all)" if len(passes) > len(shown) else ""
        yield Paragraph(f"Costliest Inductor passes: {text}{more}.")


def _compiles(costs: Sequence[CompileCost], total: float | None, show_all: bool) -> Iterator[Block]:
    yield Heading("Compiles, the costliest first", 3)
    shown = costs if show_all else costs[:_COMPILES_LISTED]
    rows = [
        [
            compile_label(cost.compile_id),
            frame_name(cost.name, cost.method),
            place(cost.place),
            "backward" if cost.is_backward else "forward",
            _caches(cost) if show_all else cost.temperature or _caches(cost),
            seconds(cost.seconds) + (" (cut off)" if cost.is_cut_off else ""),
            _share(cost.seconds, total),
        ]
        for cost in shown
    ]
    yield table("compile|frame|line|graph|caches|took>|share>", rows)
    yield from _more(len(costs) - len(shown), "compile")
    by_temperature: dict[str, list[float]] = {}
    for cost in costs:
        if cost.temperature is not None and cost.seconds is not None:
            by_temperature.setdefault(cost.temperature, []).append(cost.seconds)
    if by_temperature:
        parts = (
            f"{name} {seconds(sum(took))} ({len(took)})" for name, took in sorted(by_temperature.items())
        )
        yield Paragraph(f"By what torch's caches had: {', '.join(parts)}.")
    with_trees = [cost for cost in costs if cost.trees]
    for cost in with_trees if show_all or len(costs) == 1 else ():
        graph = ", backward graph" if cost.is_backward else ""
        yield Heading(
            f"{compile_label(cost.compile_id)} {frame_name(cost.name, cost.method)}{graph}, phase by phase", 3
        )
        yield _tree(cost, show_all)
    if with_trees and not show_all and len(costs) > 1:
        yield Paragraph("--all has the phases of each compile, --compile-id those of one.", "dim")


def _tree(cost: CompileCost, show_all: bool) -> Table:
    whole = seconds_of_trees(cost.trees)
    rows = [
        [
            "  " * depth + _phase_name(node),
            seconds(node.seconds),
            seconds(node.own_ns / 1e9),
            _share(node.seconds, whole),
        ]
        for root in phase_tree(cost.trees, show_all=show_all)
        for depth, node in root.walk()
    ]
    return table("phase|took>|itself>|share>", rows)


def _phase_name(node: Node) -> str:
    if node.name is None:
        return f"others ({node.count})"
    return f"{node.name} ×{node.count}" if node.count > 1 else node.name  # noqa: RUF001


def _caches(cost: CompileCost) -> str:
    if cost.lookups is None:
        return "no look-up recorded"
    parts = [
        f"{cache_name(cache)}: {_outcomes(outcomes)}" for cache, outcomes in sorted(cost.lookups.items())
    ]
    return f"{cost.temperature} ({'; '.join(parts)})" if cost.temperature else "; ".join(parts)


def _outcomes(outcomes: Sequence[str]) -> str:
    counted = {outcome: outcomes.count(outcome) for outcome in outcomes}
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counted.items())  # noqa: RUF001


def _wasted(process: Process, costs: Sequence[CompileCost], show_all: bool) -> Iterator[Block]:
    lost = wasted_compiles(process, costs)
    if not (lost.restarts or lost.failed_to_compile or lost.recompiles):
        return
    yield Heading("Thrown away, and compiled again", 3)
    again = {compile_.compile_id for compile_ in process.recompiles}
    for attribute, what in _LOSSES:
        losses: list[Loss] = getattr(lost, attribute)
        if not losses:
            continue
        also_fell_back = (
            len({loss.compile_id for loss in lost.failed_to_compile} & again) if what == "recompiles" else 0
        )
        but = f", and {also_fell_back} more that fell back to eager" if also_fell_back else ""
        yield Paragraph(f"On {what}: {seconds(seconds_of(losses))} ({len(losses)}{but})", "strong")
        shown = losses if show_all else losses[:_ROWS_SHOWN]
        rows = [
            [
                compile_label(loss.compile_id),
                frame_name(loss.name, loss.method),
                place(loss.place),
                seconds(loss.seconds),
                _reason(loss.reason, show_all),
            ]
            for loss in shown
        ]
        yield table("compile|frame|line|cost>|why", rows)
        yield from _more(len(losses) - len(shown), "compile")


def _reason(reason: str | None, show_all: bool) -> str:
    """torch's words; without --all, those before the line and the hints that it adds to each."""
    text = reason or "no reason recorded"
    return text if show_all else text.partition("  #")[0].partition(" (HINT")[0].rstrip()


def _tracing(traced: Tracing | None, of_process: str, show_all: bool) -> Iterator[Block]:
    if traced is None:
        yield Paragraph("Which functions Dynamo traced was not recorded.", "dim")
        return
    if not traced.functions:
        return
    yield Heading(f"Dynamo traced these functions{of_process}: {seconds(traced.seconds)}", 3)
    shown = traced.functions if show_all else traced.functions[:_ROWS_SHOWN]
    rows = [
        [
            frame_name(function.name),
            place(function.place),
            f"{function.calls:,}",
            seconds(function.exclusive_seconds),
            seconds(function.inclusive_seconds),
            _share(function.exclusive_seconds, traced.seconds),
        ]
        for function in shown
    ]
    yield table("function|line|traced>|itself>|with calls>|share>", rows)
    yield from _more(len(traced.functions) - len(shown), "function")
    if traced.other_calls:
        yield Paragraph(
            f"{number(traced.other_calls, 'call')} of others, {seconds(traced.other_seconds)}, have "
            "no name in the recording.",
            "dim",
        )


def _more(count: int, what: str) -> Iterator[Block]:
    if count > 0:
        yield Paragraph(f"{number(count, 'more ' + what)}: --all shows all.", "dim")


def _time(value: float) -> str:
    return seconds(value) if value else ""


def _share(part: float | None, whole: float | None) -> str:
    return f"{part / whole:.1%}" if part is not None and whole else ""
