"""The sections of the page behind its first screen: each report, and what only a page can show."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dynamo_core.model import Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ..breaks import report as breaks
from ..bytecode import report as bytecode
from ..explain import report as explain
from ..guards import report as guards
from ..ops import report as ops_report
from ..page.blocks import Block, Heading
from ..parts.findings import FINDINGS_TITLE
from ..profile import report as profile
from ..profile.exports.names import process_name
from ..ranks import report as ranks
from ..recompiles import report as recompiles
from ..report import Report, page
from .blocks import elements
from .element import Child, Element, h
from .first_screen import command
from .links import Links
from .ranks import has_ranks


@dataclass(frozen=True)
class Section:
    """A section: its route, its title, the command that shows the same, and the report that it is made of.

    The report is made of each process by itself, or is one `of_all` of them.
    """

    route: str
    title: str
    command: str
    report: Report | None = None
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
        Section("run", "Run", "explain", explain.report(), of_all=True),
    ]


def sections(recording: Recording, opened: Report | None) -> list[Section]:
    """Those of a recording. A report that was asked for, with its options, takes its section's place."""
    found = [each for each in every_section() if each.route != "ranks" or has_ranks(recording)]
    if opened is None:
        return found
    own = section_of(opened)
    if own and all(each.route != own for each in found):
        found.append(Section(own, own.capitalize(), own, opened, of_all=own == "ranks"))
    return [replace(each, report=opened) if each.route == own else each for each in found]


def section_of(opened: Report) -> str:
    """The route of the section that a report is; the first screen for `explain`."""
    names = {"dynamo-profile": "time", "dynamo-explain": ""}
    return names.get(opened.schema, opened.schema.removeprefix("dynamo-"))


def head(section: Section, recording: Recording) -> Element:
    """The title of a section, and the command that shows the same in a terminal."""
    return h("div", h("h2", section.title), command(section.command, recording), class_="head")


def _without_findings(blocks: Iterable[Block]) -> Iterator[Block]:
    """What a report says besides the findings, which stand on the first screen."""
    is_left_out = False
    for block in blocks:
        if isinstance(block, Heading) and block.level < 3:
            is_left_out = block.text == FINDINGS_TITLE
        if not is_left_out:
            yield block


def report_section(section: Section, recording: Recording, links: Links, above: Sequence[Child]) -> Element:
    """A section that is a report, below its pictures, with a part for each of several processes."""
    assert section.report is not None
    parts: Sequence[Child]
    if len(recording.processes) < 2 or section.of_all:
        only = recording.processes[0] if len(recording.processes) == 1 else None
        parts = elements(_without_findings(page(section.report, recording)), links, only)
    else:
        parts = list(_of_each_process(section.report, recording, links))
    return h("div", head(section, recording), above, parts)


def _of_each_process(report: Report, recording: Recording, links: Links) -> Iterator[Element]:
    for process in recording.processes:
        blocks = _without_findings(page(report, alone(recording, process)))
        yield of_process(process, elements(blocks, links, process))


def of_process(process: Process, children: Sequence[Child]) -> Element:
    """What is of one process, which the filter can show alone."""
    name = process_name(process)
    return h("section", h("h3", name[:1].upper() + name[1:]), children, data_process=name, aria_label=name)


def alone(recording: Recording, process: Process) -> Recording:
    """The recording as if it had this process only."""
    return replace(recording, processes=[process])
