"""`dynamo diff` as JSON: one declaration for the document and its schema, `schemas/diff.schema.json`."""

from typing import Any, Literal

from dynamo_core.compare.difference import Difference
from dynamo_core.model import Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class Side:
    """One of the two recordings."""

    recording: str
    is_partial: bool
    program: str | None
    torch: str | None


@dataclass(frozen=True)
class DiffDocument:
    """Two recordings and what differs between them."""

    schema: Literal["dynamo-diff"]
    version: Literal[1]
    before: Side
    after: Side
    difference: Difference


def diff_document(difference: Difference, before: Recording, after: Recording) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json_value(
        DiffDocument("dynamo-diff", 1, _side(before), _side(after), difference)
    )
    return document


def _side(recording: Recording) -> Side:
    versions = [process.torch_version for process in recording.processes if process.torch_version]
    program = None if recording.run is None else recording.run.program
    return Side(str(recording.path), recording.is_partial, program, versions[0] if versions else None)
