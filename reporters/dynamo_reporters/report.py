"""What every report is: a name, what it reads, and two pure functions of a recording."""

import enum
from collections.abc import Callable, Iterable
from typing import Any

from dynamo_core.analysis.summary import unrecorded
from dynamo_core.model import CompileId, Place, Process, Recording, StackFrame
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Heading, bounded


@dataclass(frozen=True)
class Report:
    """One report, with its options settled.

    `contents` names the records whose large payloads the reader must load for it. `page` is for people;
    `body` is what its JSON document has beside the fields of every document, in the shape that
    `schemas/<schema>.schema.json` describes; `version` is raised when a field goes or changes its meaning.
    Where one process may stand for all that are alike, as ranks are, it says `one_for_alike`.
    """

    schema: str
    version: int
    contents: frozenset[str]
    page: Callable[[Recording], Iterable[Block]]
    body: Callable[[Recording], dict[str, Any]]
    one_for_alike: bool = False


def page(report: Report, recording: Recording) -> Iterable[Block]:
    """The report as blocks."""
    if not recording.processes and report.schema != "dynamo-explain":
        return [Heading("No process that imported torch was recorded; `dynamo explain` says why.", 1)]
    return bounded(report.page(recording))


def document(report: Report, recording: Recording) -> dict[str, Any]:
    """The report as JSON values. Absent data is null, never 0."""
    return {
        "schema": report.schema,
        "version": report.version,
        "recording": str(recording.path),
        "is_partial": recording.is_partial,
        "unrecorded": unrecorded(recording),
        **report.body(recording),
    }


def id_value(compile_id: CompileId | None) -> str | None:
    """A compile id as torch writes it."""
    return None if compile_id is None else str(compile_id)


def place_value(value: Place | None) -> dict[str, Any] | None:
    """A place as an object."""
    return None if value is None else {"file": value.file, "line": value.line}


def stack_value(stack: Iterable[StackFrame]) -> list[dict[str, Any]]:
    """A stack, outermost first."""
    return [
        {"file": frame.place.file, "line": frame.place.line, "name": frame.function, "text": frame.text}
        for frame in stack
    ]


def process_value(process: Process) -> dict[str, Any]:
    """Which process an item is of: what tells processes of one recording apart."""
    return {"stream": process.stream.name, "pid": process.info.pid, "rank": process.rank}


# How much a report says, in the three steps of TORCH_LOGS: `-name`, `name`, `+name`.


class Detail(enum.IntEnum):
    """LESS is one line an item; MORE is all there is."""

    LESS = -1
    NORMAL = 0
    MORE = 1
