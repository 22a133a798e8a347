"""What ranks did beside each other: a step of each, and those that did the same together."""

from collections.abc import Hashable, Mapping
from typing import Literal

from ...model import Place
from ...shared.quick_dataclass import dataclass

Subject = Literal[
    "settings", "collectives", "graphs", "graph breaks", "recompiles", "caches", "calls of collectives"
]


@dataclass(frozen=True)
class Side:
    """What these ranks did, and the line of the program where they did it."""

    ranks: tuple[int, ...]
    what: str
    place: Place | None = None
    graph: int | None = None


@dataclass(frozen=True)
class Difference:
    """The first thing of a subject in which the ranks differ; each side is what some of them did."""

    subject: Subject
    title: str
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Step:
    """One thing that a rank did: the same as another rank's where `key` is. `at_ns` is when, by its clock."""

    key: Hashable
    what: str
    place: Place | None = None
    graph: int | None = None
    at_ns: int | None = None


NOTHING = Step(None, "nothing more was recorded")


def sides(steps: Mapping[int, Step]) -> tuple[Side, ...]:
    """Ranks that did the same together, those that most did first."""
    alike: dict[Hashable, list[int]] = {}
    for rank, step in steps.items():
        alike.setdefault(step.key, []).append(rank)
    groups = sorted(alike.values(), key=lambda group: (-len(group), group))
    return tuple(
        Side(tuple(group), steps[group[0]].what, steps[group[0]].place, steps[group[0]].graph)
        for group in groups
    )


def ordinal(at: int) -> str:
    """`1st`, `2nd`, of an index from 0."""
    count = at + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th") if count % 100 not in (11, 12, 13) else "th"
    return f"{count}{ending}"
