"""The sections of the page behind its first screen: each report, and what only a page can show."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynamo_core.case import Case
from dynamo_core.model import Process, Recording, Run
from dynamo_core.shared.quick_dataclass import dataclass

from .. import breaks, ranks, recompiles
from ..bytecode import report as bytecode
from ..explain import report as explain
from ..guards import report as guards
from ..ops import report as ops_report
from ..page.blocks import Block, Heading, Table
from ..page.blocks import table as block_table
from ..parts.actions import ACTIONS_TITLE
from ..parts.sections import FINDINGS_TITLE
from ..profile import report as profile
from ..profile.exports.tracks import process_name
from ..report import Report, page
from .blocks import elements, table
from .element import Child, Element, h
from .first_screen import command
from .links import Links


@dataclass(frozen=True)
class Section:
    """A section: its route, its title, the command that shows the same, and the report that it is made of.

    The report is made of each process by itself, or is one `of_all` of them.
    """

    route: str
    title: str
    command: str
    report: Report[Case] | None = None
    of_all: bool = False


def every_section() -> list[Section]:
    """In the order of the page, with those that only some recordings have."""
    return [
        Section("source", "Source", "bytecode --source"),
        Section("breaks", "Breaks", "breaks", breaks.report()),
        Section("recompiles", "Recompiles", "recompiles", recompiles.report()),
        Section("graphs", "Graphs", "graphs"),
        Section("guards", "Guards", "guards", guards.report()),
        Section("time", "Time", "profile", profile.report()),
        Section("bytecode", "Bytecode", "bytecode --diff", bytecode.report("diff")),
        Section("ops", "Ops", "ops", ops_report()),
        Section("ranks", "Ranks", "ranks", ranks.report(), of_all=True),
        Section("run", "Run", "explain --all", explain.report(show_all=True), of_all=True),
    ]


def sections(case: Case, opened: Report[Case] | None) -> list[Section]:
    """The sections of a recording. A requested report, with its options, takes its section's place."""
    found = [each for each in every_section() if each.route != "ranks" or case.has_ranks]
    if opened is None:
        return found
    own = section_of(opened)
    if own and all(each.route != own for each in found):
        found.append(Section(own, own.capitalize(), own, opened, of_all=own == "ranks"))
    return [replace(each, report=opened) if each.route == own else each for each in found]


def section_of(opened: Report[Case]) -> str:
    """The route of the section that a report is; the first screen for `explain`."""
    return {"profile": "time", "explain": ""}.get(opened.name, opened.name)


def head(section: Section, recording: Recording) -> Element:
    """The title of a section, and the command that shows the same in a terminal."""
    return h("div", h("h2", section.title), command(section.command, recording), class_="head")


def _without_findings(blocks: Iterable[Block]) -> Iterator[Block]:
    """What a report says besides actions and findings, which stand on the first screen."""
    is_left_out = False
    for block in blocks:
        if isinstance(block, Heading) and block.level < 3:
            is_left_out = block.text in (ACTIONS_TITLE, FINDINGS_TITLE)
        if not is_left_out:
            yield block


def report_section(section: Section, case: Case, links: Links, above: Sequence[Child]) -> Element:
    """A section that is a report, below what only a page shows, with a part for each of several processes."""
    assert section.report is not None
    parts: Sequence[Child]
    if len(case.processes) < 2 or section.of_all:
        only = case.processes[0] if len(case.processes) == 1 else None
        parts = elements(_without_findings(page(section.report, case)), links, only)
    else:
        parts = list(_of_each_process(section.report, case, links))
    return h("div", head(section, case.recording), above, parts)


def _of_each_process(report: Report[Case], case: Case, links: Links) -> Iterator[Element]:
    for process in case.processes:
        blocks = _without_findings(page(report, case.alone(process)))
        yield of_process(process, elements(blocks, links, process))


def of_process(process: Process, children: Sequence[Child]) -> Element:
    """What is of one process, which the filter can show alone."""
    name = process_name(process)
    return h("section", h("h3", name[:1].upper() + name[1:]), children, data_process=name, aria_label=name)


# The run and its processes as they say of themselves: command, versions, settings, environment, records.


_MOST_PROCESSES = 100
_MOST_ROWS = 500


def run_facts(recording: Recording, links: Links) -> Iterator[Child]:
    """A table for the run, and one for each process."""
    if recording.run is not None:
        yield h("h3", "The run")
        yield table(_facts(_of_run(recording.run)), links, None)
    for process in recording.processes[:_MOST_PROCESSES]:
        name = process_name(process)
        yield h("h3", name[:1].upper() + name[1:])
        yield table(_facts(_of_process(process)), links, process)
    more = len(recording.processes) - _MOST_PROCESSES
    if more > 0:
        yield h("p", f"… and {more:,} more processes; --format json has all", class_="dim")


def _facts(facts: Mapping[str, Any]) -> Table:
    rows = [[name, _shown(value)] for name, value in facts.items() if value not in (None, "", [], {})]
    return Table(block_table("|", []).columns, rows[:_MOST_ROWS])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name} = {_shown(inner)}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _of_run(run: Run) -> dict[str, Any]:
    settings = {name: value for name, value in run.settings.recorded.items() if value not in (None, [], {})}
    return {
        "command": shlex.join(run.command or []),
        "in": run.cwd,
        "started": run.started,
        "exit code": run.exit_code,
        "signal": run.signal,
        "recorded by": f"dynamo {run.dynamo}" if run.dynamo else None,
        "settings": settings,
    }


def _of_process(process: Process) -> dict[str, Any]:
    info, state = process.info, process.runtime.state
    return {
        "stream": process.stream.name,
        "pid": info.pid,
        "rank": process.rank,
        "command line": shlex.join(info.argv) if info.argv else None,
        "Python": f"{info.python} ({info.executable})" if info.python else None,
        "torch": process.torch_version,
        "torch's commit": info.torch_git,
        "CUDA": info.cuda_build,
        "ROCm": info.hip_build,
        "devices": state.devices,
        "torch's settings that are not the defaults": state.torch_config,
        "environment": info.environment,
        "records": dict(sorted(process.health.record_counts.items(), key=lambda each: (-each[1], each[0]))),
    }
