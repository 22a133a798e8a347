"""What every report is: a name, what it reads, a page, and the body of a JSON document."""

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from dynamo_core.case import Case
from dynamo_core.shared.quick_dataclass import dataclass

from .documents import json_value
from .next_commands import NextCommand, next_block, next_commands
from .page.blocks import Block, Heading, bounded
from .registry import REPORTS

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Report(Generic[Subject]):
    """One report, with its options settled: two pure functions of what it is about, most often a `Case`.

    `page` is for people; `body` is the dataclass that `registry.py` names, which the JSON document is made
    of. `contents` names the records whose large payloads the reader must load for it. Where one process may
    stand for all that are equivalent, as ranks are, it says `one_for_alike`. A report that is not of a `Case`
    says by `then` which commands to go on with. `by_worth` is the page for a reader with a budget, where that
    has another order.
    """

    name: str
    page: Callable[[Subject], Iterable[Block]]
    body: Callable[[Subject], Any]
    contents: frozenset[str] = frozenset()
    one_for_alike: bool = False
    then: Callable[[Subject], Sequence[NextCommand]] = lambda subject: ()
    by_worth: Callable[[Subject], Iterable[Block]] | None = None


def page(report: Report[Subject], subject: Subject, *, is_bounded: bool = False) -> Iterable[Block]:
    """The report as blocks; with what is worth most first, where only so many of them are shown."""
    if isinstance(subject, Case) and not subject.processes and report.name != "explain":
        return [Heading("No process that imported torch was recorded; `dynamo explain` says why.", 1)]
    by_worth = report.by_worth if is_bounded else None
    return bounded((by_worth or report.page)(subject))


def last_lines(report: Report[Subject], subject: Subject) -> Iterable[Block]:
    """What a page ends with for a reader that goes on by itself: the document's `next`."""
    following = _following(report, subject)
    return [next_block(following)] if following else []


def _following(report: Report[Subject], subject: Subject) -> Sequence[NextCommand]:
    return next_commands(subject, report.name) if isinstance(subject, Case) else report.then(subject)


def document(report: Report[Subject], subject: Subject) -> dict[str, Any]:
    """The report as JSON values. Absent data is null, never 0."""
    head: dict[str, Any] = {"schema": f"dynamo-{report.name}", "version": REPORTS[report.name].version}
    if isinstance(subject, Case):
        head["recording"] = subject.recording.address
        head["is_partial"] = subject.is_partial
        head["unrecorded"] = subject.unrecorded
    head["next"] = json_value(_following(report, subject))
    body: dict[str, Any] = json_value(report.body(subject))
    return head | body


class Detail(enum.IntEnum):
    """How much DYNAMO_LOGS says of an event: a line (`name`), a block (`+name`), all there is (`++name`)."""

    LESS = -1
    NORMAL = 0
    MORE = 1
