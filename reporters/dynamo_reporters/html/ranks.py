"""The ranks on the first screen, where they keep each other from going on, or would."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.ranks.members import ranks_of
from dynamo_core.analysis.words import number
from dynamo_core.compare.node_changes import SourceLines
from dynamo_core.model import Recording

from ..ranks.report import in_short
from .blocks import elements
from .element import Element, h
from .links import Links, link


def has_ranks(recording: Recording) -> bool:
    """Whether there are ranks to compare."""
    return len(ranks_of(recording)) > 1


def ranks_in_short(recording: Recording, findings: Sequence[Finding], links: Links) -> Iterator[Element]:
    """Nothing where no rank waits for another and all call the same collectives."""
    if not has_ranks(recording):
        return
    ranks = compare_ranks(recording)
    if not ranks.waiting and all(finding.kind != "ranks differ" for finding in findings):
        return
    more = len(ranks.differences) - 1
    yield h(
        "section",
        h("h2", link("ranks", "Ranks")),
        elements(in_short(ranks, SourceLines(recording)), links),
        h("p", link("ranks", f"… and {number(more, 'more difference')}"), class_="dim") if more > 0 else None,
        aria_label="Ranks",
    )
