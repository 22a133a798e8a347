"""What every report is: a name, what it reads, a page, the body of a JSON document, and what to ask next."""

import enum
import shlex
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from dynamo_core.case import Case
from dynamo_core.shared.quick_dataclass import dataclass

from .documents import json_value
from .page.blocks import Block, Heading, bounded
from .registry import REPORTS

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Report(Generic[Subject]):
    """One report, with its options settled: two pure functions of what it is about, most often a `Case`.

    `page` is for people; `body` is the dataclass that `registry.py` names, which the JSON document is made
    of. `contents` names the records whose large payloads the reader must load for it. Where one process may
    stand for all that are equivalent, as ranks are, it says `one_for_alike`.
    """

    name: str
    page: Callable[[Subject], Iterable[Block]]
    body: Callable[[Subject], Any]
    contents: frozenset[str] = frozenset()
    one_for_alike: bool = False


def page(report: Report[Subject], subject: Subject) -> Iterable[Block]:
    """The report as blocks."""
    if isinstance(subject, Case) and not subject.processes and report.name != "explain":
        return [Heading("No process that imported torch was recorded; `dynamo explain` says why.", 1)]
    return bounded(report.page(subject))


def document(report: Report[Subject], subject: Subject) -> dict[str, Any]:
    """The report as JSON values. Absent data is null, never 0."""
    head: dict[str, Any] = {"schema": f"dynamo-{report.name}", "version": REPORTS[report.name].version}
    if isinstance(subject, Case):
        head["recording"] = str(subject.recording.path)
        head["is_partial"] = subject.is_partial
        head["unrecorded"] = subject.unrecorded
        head["next"] = json_value(next_commands(subject, report.name))
    body: dict[str, Any] = json_value(report.body(subject))
    return head | body


class Detail(enum.IntEnum):
    """How much DYNAMO_LOGS says of an event: a line (`name`), a block (`+name`), all there is (`++name`)."""

    LESS = -1
    NORMAL = 0
    MORE = 1


@dataclass(frozen=True)
class NextCommand:
    """A command to go on with."""

    command: str
    shows: str
    runs_program: bool


def next_commands(case: Case, report: str) -> list[NextCommand]:
    """At most three, of which the first is worth most."""
    path = shlex.quote(str(case.recording.path))
    if report != "explain":
        return [NextCommand(f"dynamo-cli explain {path}", "what to do first, and what it saves", False)]
    found = []
    action = next((each for each in case.actions if each.remedy is not None), None)
    if action is not None and action.remedy is not None:
        shown = action.remedy.check.removeprefix("dynamo ")
        found.append(NextCommand(f"dynamo-cli {shown} {path}", "what the first action is to cure", False))
        if case.recording.run is not None and case.recording.run.command:
            program = shlex.join(case.recording.run.command)
            fix = NextCommand(f"dynamo-cli fix -y -- {program}", "remedies that are proven by runs", True)
            found.append(fix)
    return [*found, NextCommand(f"dynamo-cli profile {path}", "where the wall time went", False)]
