"""When the run settled, and what one step takes since."""

from collections.abc import Iterator

from dynamo_core.analysis.own_calls import OwnCalls
from dynamo_core.analysis.time.graph_times import frame_text
from dynamo_core.analysis.time.steps import Steps, find_steps, is_name_known
from dynamo_core.analysis.time.wall import COMPILING, wall_time
from dynamo_core.analysis.words import compile_label, number, process_title, seconds
from dynamo_core.model import Process, Recording

from ..page.blocks import Block, Heading, Paragraph


def steady_state_blocks(recording: Recording, step: str | None) -> Iterator[Block]:
    """A paragraph or two for each process that has steps."""
    for process in recording.processes:
        steps = find_steps(process, step)
        which = process_title(process, recording)
        if steps is None:
            yield Heading(f"Steady state{which}: {_why_none(process, step)}")
            continue
        low, high = steps.spread
        yield Heading(f"Steady state{which}: {seconds(steps.median)} a step, {_warm_up(steps)}")
        graph = steps.graph
        yield Paragraph(
            f"A step is taken to be one call of graph {graph.number} {compile_label(graph.compile_id)}, "
            f"{frame_text(graph, OwnCalls(process))}. "
            f"Over {number(steps.steady, 'step')}: median {seconds(steps.median)}, "
            f"mean {seconds(steps.mean)}, from {seconds(low)} to {seconds(high)}"
            + (f" in blocks of {steps.block_size} steps." if steps.block_size > 1 else ".")
            + _first(process, steps)
        )
        if process.window is not None:
            yield Paragraph(
                "The steps of the profiled window are not among them. A step recorded with its lines or "
                "memory comes right after it: where there is one, it is among them, and slower.",
                "dim",
            )
        yield from _paid_back(process, recording, steps)


def _why_none(process: Process, step: str | None) -> str:
    if all(graph.times is None for graph in process.graphs) and process.graphs:
        return "not recorded"
    if step is not None and not is_name_known(process, step):
        return f"not found; no compiled frame, and no function that led to one, is called {step}"
    what = "nothing" if step is None else f"no graph below {step}"
    outside = "" if process.window is None else ", outside of the profiled window"
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


def _paid_back(process: Process, recording: Recording, steps: Steps) -> Iterator[Block]:
    wall = wall_time(process, recording)
    compiling = wall.part(COMPILING) if wall is not None else None
    if compiling is None or compiling.seconds is None or not steps.median:
        return
    yield Paragraph(
        f"Compiling took {seconds(compiling.seconds)}, as long as "
        f"{number(round(compiling.seconds / steps.median), 'such step')}; `dynamo bench` says after how many "
        "it pays."
    )
