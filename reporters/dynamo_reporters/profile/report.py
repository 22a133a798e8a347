"""`dynamo profile`: where the time of a run went."""

from collections.abc import Iterator

from dynamo_core.analysis.findings import CONTENTS as FINDINGS
from dynamo_core.analysis.findings import find
from dynamo_core.analysis.summary import summarize
from dynamo_core.analysis.time.steps import check_step
from dynamo_core.analysis.time.wall import COMPILING, GRAPHS, REST, is_main, wall_time
from dynamo_core.analysis.verdict import compiled_anything, counted_together
from dynamo_core.analysis.words import seconds
from dynamo_core.model import Recording

from ..documents import json_value
from ..page.blocks import Block, Heading
from ..parts.findings import findings_in_short, findings_section
from ..parts.other_ranks import other_ranks_blocks
from ..report import Report
from ..shares import shares_of
from . import compile_time, window
from .break_cost import break_cost_blocks
from .document import Profile, profile_of
from .run_split import run_split_blocks
from .run_time import run_time_blocks
from .steady_state import steady_state_blocks

CONTENTS = compile_time.CONTENTS | window.CONTENTS | FINDINGS


def report(*, show_all: bool = False, step: str | None = None) -> Report:
    """The report of `dynamo profile`; with `show_all`, every phase, graph and operator.

    `step` names the function that is a step (see `find_steps`), where the one that was found is not it.
    """
    return Report(
        "dynamo-profile",
        3,
        CONTENTS,
        lambda recording: _page(recording, show_all, step),
        lambda recording: json_value(_document(recording, step)),
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
    if not compiled_anything(process) and any(map(compiled_anything, recording.processes)):
        return f"{_compiling(recording)}; the wall time of each process is below."  # a launcher of ranks
    wall = wall_time(process, recording)
    if wall is None:
        return f"{_compiling(recording)}; the wall time was not recorded."
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


def _compiling(recording: Recording) -> str:
    spent, together = summarize(recording).compile_time_s, counted_together(recording)
    took = f"Compiling took {'an unknown time' if spent is None else seconds(spent)}"
    return f"{took} in {together}" if together else took


def _document(recording: Recording, step: str | None) -> Profile:
    check_step(recording.processes, step)
    return profile_of(recording, step)
