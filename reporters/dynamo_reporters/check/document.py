"""`dynamo check` as JSON: one declaration for the document and its schema, `schemas/check.schema.json`."""

from collections.abc import Mapping
from typing import Any, Literal

from dynamo_core.analysis.findings import Finding
from dynamo_core.lock.comparison import Checked, Direction
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class CountValue:
    """A count of the run; null where it was not recorded."""

    name: str
    count: int | None


@dataclass(frozen=True)
class DifferenceValue:
    """One fact that differs from what is locked, or is beyond a bound; `finding` where this run has it."""

    direction: Direction
    text: str
    identity: str | None
    finding: Finding | None


@dataclass(frozen=True)
class CheckDocument:
    """What `dynamo check` compared. `is_locked` says whether there was anything to compare with."""

    schema: Literal["dynamo-check"]
    version: Literal[1]
    program: str
    is_locked: bool
    counts: tuple[CountValue, ...]
    differences: tuple[DifferenceValue, ...]
    not_comparable: tuple[str, ...]


def check_document(checked: Checked, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json_value(
        CheckDocument(
            "dynamo-check",
            1,
            checked.program,
            checked.is_locked,
            tuple(CountValue(name, count) for name, count in checked.now.counts.items()),
            tuple(
                DifferenceValue(each.direction, each.text, each.identity, findings.get(each.identity or ""))
                for each in checked.differences
            ),
            checked.not_comparable,
        )
    )
    return document
