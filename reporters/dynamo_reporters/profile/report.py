"""`dynamo profile`: where the time of a run went."""

from collections.abc import Iterator

from dynamo_core.analysis.break_costs import seconds_in_all
from dynamo_core.analysis.memory import peaks, peaks_text
from dynamo_core.analysis.source_lines import UserCallSites
from dynamo_core.analysis.time.steps import Steps, check_step, find_steps, frame_text, is_name_known
from dynamo_core.analysis.time.wall import COMPILING, GRAPHS, REST, Part, WallTime, is_main
from dynamo_core.analysis.verdict import compiled_anything, counted_together
from dynamo_core.analysis.words import compile_label, count_text, number, place, process_title, seconds
from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS as FINDINGS
from dynamo_core.findings.recompiles import ranked_breaks
from dynamo_core.model import Process

from ..documents import shares_of
from ..page.blocks import Block, Bullets, Heading, Paragraph, bar, rest, table
from ..parts.actions import actions_in_short
from ..parts.sections import findings_section, other_ranks_blocks
from ..report import Report
from . import compile_time, window
from .document import Profile, profile_of
from .run_time import run_time_blocks

# Where the wall time of each process went, as a table that adds up.


_LEAST_SHARE = 0.01  # of the wall time, for a part of a part to be listed
_LEAST_REST = 0.005  # of a part, for what its own parts leave of it to be listed
_NO_BEGIN = "When this process began was not recorded: a plain torch trace does not tell. `dynamo run` does."


def run_split_blocks(case: Case, show_all: bool) -> Iterator[Block]:
    """A table for each process."""
    for process in case.processes:
        wall = case.wall(process)
        which = process_title(process, case.recording)
        if wall is None:
            yield Heading(f"Wall time{which}: not recorded")
            yield Paragraph(_NO_BEGIN)
            continue
        yield Heading(f"Wall time{which}: {seconds(wall.seconds)}")
        if not wall.saw_end:
            yield Paragraph("It goes on or was cut off: this is up to the last that was noted.", "warning")
        yield table("spent on|time>|share>|known by|", list(_rows(wall, show_all)))
        notes = [f"{part.name}: {part.note}." for part in wall.parts if part.note and part.seconds]
        yield Bullets(notes, "dim")
        forked = process.info.forked
        if forked:
            yield Paragraph("It was forked: what came before the fork is its parent's.", "dim")


def _rows(wall: WallTime, show_all: bool) -> Iterator[list[str]]:
    shares = shares_of([part.seconds for part in wall.parts], wall.seconds)
    for part, share in zip(wall.parts, shares, strict=True):
        drawn = bar(part.seconds or 0.0, wall.seconds, 20)
        yield [part.name, seconds(part.seconds), share, part.basis, drawn]
        yield from _inner(part, wall, show_all, 1)


def _inner(part: Part, wall: WallTime, show_all: bool, depth: int) -> Iterator[list[str]]:
    listed = [p for p in part.parts if show_all or (p.seconds or 0.0) >= _LEAST_SHARE * wall.seconds]
    rest = (part.seconds or 0.0) - sum(p.seconds or 0.0 for p in listed)
    has_rest = rest >= _LEAST_REST * (part.seconds or 0.0)
    if len(listed) == 1 and not has_rest:
        return  # it is all of it
    for inner in sorted(listed, key=lambda p: -(p.seconds or 0.0)):
        yield _inner_row(inner.name, inner.seconds, wall, depth)
        yield from _inner(inner, wall, show_all, depth + 1)
    if listed and has_rest:
        yield _inner_row("the rest", rest, wall, depth)


def _inner_row(name: str, spent: float | None, wall: WallTime, depth: int) -> list[str]:
    (share,) = shares_of([spent], wall.seconds)
    return ["  " * depth + "· " + name, seconds(spent), share, "", ""]


def peak_memory_blocks(case: Case) -> Iterator[Block]:
    """The most memory that a process had; nothing where none was recorded."""
    found = peaks(case.processes)
    if found:
        several = " of a process" if len(case.processes) > 1 else ""
        yield Paragraph(f"Peak memory{several}: {peaks_text(found)}.")


# When the run settled, and what one step takes since.


def steady_state_blocks(case: Case, step: str | None) -> Iterator[Block]:
    """A paragraph or two for each process that has steps."""
    for process in case.processes:
        steps = find_steps(process, step)
        which = process_title(process, case.recording)
        if steps is None:
            yield Heading(f"Steady state{which}: {_why_none(process, step)}")
            continue
        low, high = steps.spread
        yield Heading(f"Steady state{which}: {seconds(steps.median)} a step, {_warm_up(steps)}")
        graph = steps.graph
        yield Paragraph(
            f"A step is taken to last from one call of graph {graph.number} "
            f"{compile_label(graph.compile_id)}, {frame_text(graph, UserCallSites(process))}, to the next. "
            f"Over {number(steps.steady, 'step')}: median {seconds(steps.median)}, "
            f"mean {seconds(steps.mean)}, from {seconds(low)} to {seconds(high)}"
            + (f" in blocks of {steps.block_size} steps." if steps.block_size > 1 else ".")
            + _first(process, steps)
        )
        if process.profiling.window is not None:
            yield Paragraph(
                "The steps of the profiled window are not among them. A step recorded with its lines or "
                "memory comes right after it: where there is one, it is among them, and slower.",
                "dim",
            )
        yield from _paid_back(process, case, steps)


def _why_none(process: Process, step: str | None) -> str:
    if all(graph.times is None for graph in process.graphs) and process.graphs:
        return "not recorded"
    if step is not None and not is_name_known(process, step):
        return f"not found; no compiled frame, and no function that led to one, is called {step}"
    what = "nothing" if step is None else f"no graph below {step}"
    outside = "" if process.profiling.window is None else ", outside of the profiled window"
    return f"not found; {what} is called often enough after the last compile{outside}"


def _first(process: Process, steps: Steps) -> str:
    """A graph is compiled before it is called, so that compile is in no step; that of a backward is."""
    if not steps.first:
        return ""
    of_graph = [each for each in process.compiles if each.compile_id == steps.graph.compile_id]
    before = sum(each.seconds or 0.0 for each in of_graph if each.is_forward)
    compiled = f"; before it, compiling the graph took {seconds(before)}" if before else ""
    compiling = f", {seconds(steps.first_compiling)} of it compiling" if steps.first_compiling else ""
    return f" The first one took {seconds(steps.first[0])}{compiling}{compiled}."


def _warm_up(steps: Steps) -> str:
    least, most = steps.warm_up
    if most == 0:
        return "from the first on"
    if least != most:
        return f"after the first {least:,} to {most:,} steps"
    return "after the first step" if most == 1 else f"after the first {most:,} steps"


def _paid_back(process: Process, case: Case, steps: Steps) -> Iterator[Block]:
    wall = case.wall(process)
    compiling = wall.part(COMPILING) if wall is not None else None
    if compiling is None or compiling.seconds is None or not steps.median:
        return
    yield Paragraph(
        f"Compiling took {seconds(compiling.seconds)}, as long as "
        f"{number(round(compiling.seconds / steps.median), 'such step')}; `dynamo bench` says after how many "
        "it pays."
    )


_ROWS_SHOWN = 5
_TOGETHER = " Breaks that follow one another with no graph in between have that time together."


def break_cost_blocks(case: Case, show_all: bool) -> Iterator[Block]:
    """The breaks with what they cost, in the order of the findings."""
    costs = ranked_breaks(case.figures)
    if not costs:
        return
    in_all = seconds_in_all(costs)
    yield Heading(f"Graph breaks: {'what they cost was not recorded' if in_all is None else seconds(in_all)}")
    rows = [
        [
            f"{place(cost.distinct.first.place)} {cost.distinct.first.kind}",
            count_text(cost.distinct.crossed),
            seconds(cost.seconds_each),
            seconds(cost.seconds),
        ]
        for cost in (costs if show_all else costs[:_ROWS_SHOWN])
    ]
    yield table("break|crossed>|each>|in all>", rows)
    yield from rest(len(costs) - len(rows), "break", ": --all.")
    yield Paragraph(
        "From the graph before a break to the one after it, on average over a sample: fixing the break "
        "saves at most this, and some compiling. `dynamo breaks` says how."
        + (_TOGETHER if any(cost.along_with for cost in costs) else ""),
        "dim",
    )


CONTENTS = compile_time.CONTENTS | window.CONTENTS | FINDINGS


def report(*, show_all: bool = False, step: str | None = None) -> Report[Case]:
    """The report of `dynamo profile`; with `show_all`, every phase, graph and operator.

    `step` names the function that is a step (see `find_steps`), where the one that was found is not it.
    """
    return Report(
        "profile", lambda case: _page(case, show_all, step), lambda case: _document(case, step), CONTENTS
    )


def _page(case: Case, show_all: bool, step: str | None) -> Iterator[Block]:
    recording = case.recording
    check_step(case.processes, step)
    yield Heading(_verdict(case), 1)
    yield from other_ranks_blocks(recording)
    if show_all:
        yield from findings_section(case.findings, can_run_again=recording.can_run_again)
    else:
        yield from actions_in_short(case, "dynamo profile")
    yield from run_split_blocks(case, show_all)
    yield from peak_memory_blocks(case)
    yield from steady_state_blocks(case, step)
    yield from run_time_blocks(case, show_all)
    yield from break_cost_blocks(case, show_all)
    yield from window.window_blocks(recording)
    yield from compile_time.compile_time_blocks(case, show_all)


def _verdict(case: Case) -> str:
    """The main process in a sentence; the run's other processes have a table each."""
    main = next((process for process in case.processes if is_main(process, case.recording)), None)
    process = main or case.processes[0]
    if not compiled_anything(process) and any(map(compiled_anything, case.processes)):
        return f"{_compiling(case)}; the wall time of each process is below."  # a launcher of ranks
    wall = case.wall(process)
    if wall is None:
        return f"{_compiling(case)}; the wall time was not recorded."
    spent = {
        part.name: part.seconds
        for name in (COMPILING, GRAPHS, REST)
        if (part := wall.part(name)) is not None and part.seconds is not None
    }
    others = sum(part.seconds or 0.0 for part in wall.parts if part.name not in spent)
    spent["imports, exit and the like"] = others
    shares = shares_of(list(spent.values()), wall.seconds, digits=0)
    text = ", ".join(f"{share} {name}" for share, name in zip(shares, spent, strict=True))
    return f"{seconds(wall.seconds)} of wall time: {text}."


def _compiling(case: Case) -> str:
    spent, together = case.summary.compile_time_s, counted_together(case.recording)
    took = f"Compiling took {'an unknown time' if spent is None else seconds(spent)}"
    return f"{took} in {together}" if together else took


def _document(case: Case, step: str | None) -> Profile:
    check_step(case.processes, step)
    return profile_of(case, step)
