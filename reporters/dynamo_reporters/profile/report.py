"""`dynamo profile`: where the time of a run went."""

from collections.abc import Iterator
from typing import Any

from dynamo_core.analysis.findings import CONTENTS as FINDINGS
from dynamo_core.analysis.findings import find
from dynamo_core.analysis.time.phases import split
from dynamo_core.analysis.time.steps import check_step
from dynamo_core.analysis.time.wall import COMPILING, GRAPHS, REST, is_main, wall_time
from dynamo_core.analysis.words import seconds
from dynamo_core.model import Process, Recording

from ..page.blocks import Block, Heading
from ..parts.findings import findings_in_short, findings_section, findings_value
from ..parts.other_ranks import other_ranks_blocks
from ..report import Report, process_value
from ..shares import shares_of
from . import compile_time, window
from .break_cost import break_cost_blocks, break_cost_values
from .run_split import run_split_blocks, run_split_value
from .run_time import inherited_value, run_time_blocks, run_time_value
from .steady_state import steady_state_blocks, steady_state_value

CONTENTS = compile_time.CONTENTS | window.CONTENTS | FINDINGS


def report(*, show_all: bool = False, step: str | None = None) -> Report:
    """The report of `dynamo profile`; with `show_all`, every phase, graph and operator.

    `step` names the function that is a step (see `find_steps`), where the one that was found is not it.
    """
    return Report(
        "dynamo-profile",
        2,
        CONTENTS,
        lambda recording: _page(recording, show_all, step),
        lambda recording: _body(recording, step),
    )


def _page(recording: Recording, show_all: bool, step: str | None) -> Iterator[Block]:
    check_step(recording.processes, step)
    yield Heading(_verdict(recording), 1)
    findings = find(recording)
    yield from other_ranks_blocks(recording)
    if show_all:
        yield from findings_section(findings, can_run_again=recording.run is not None)
    else:
        yield from findings_in_short(findings, "dynamo profile")
    yield from run_split_blocks(recording, show_all)
    yield from steady_state_blocks(recording, step)
    yield from run_time_blocks(recording, show_all)
    yield from break_cost_blocks(recording, show_all)
    yield from window.window_blocks(recording)
    yield from compile_time.compile_time_blocks(recording, show_all)


def _verdict(recording: Recording) -> str:
    """The main process in a sentence; the run's other processes have a table each."""
    main = next((process for process in recording.processes if is_main(process, recording)), None)
    process = main or recording.processes[0]
    wall = wall_time(process, recording)
    if wall is None:
        compiling = split(process)
        known = seconds(compiling.total_seconds) if compiling is not None else "an unknown time"
        return f"Compiling took {known}; the wall time was not recorded."
    spent = {
        part.name: part.seconds
        for name in (COMPILING, GRAPHS, REST)
        if (part := wall.part(name)) is not None and part.seconds is not None
    }
    others = sum(part.seconds or 0.0 for part in wall.parts if part.name not in spent)
    spent["imports, exit and the like"] = others
    shares = shares_of(list(spent.values()), wall.seconds, digits=0)
    said = ", ".join(f"{share} {name}" for share, name in zip(shares, spent, strict=True))
    return f"{seconds(wall.seconds)} of wall time: {said}."


def _body(recording: Recording, step: str | None) -> dict[str, Any]:
    check_step(recording.processes, step)
    return {
        "findings": findings_value(find(recording)),
        "processes": [_process_value(process, recording, step) for process in recording.processes],
        "breaks": break_cost_values(recording),
    }


def _process_value(process: Process, recording: Recording, step: str | None) -> dict[str, Any]:
    return {
        "process": process_value(process),
        "wall_time": run_split_value(process, recording),
        "steady_state": steady_state_value(process, step),
        "graphs": run_time_value(process),
        "inherited": inherited_value(process),
        "compile_time": compile_time.compile_time_value(process),
        "window": window.window_value(process),
    }
