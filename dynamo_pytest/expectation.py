"""What is expected of a test: what its markers and pyproject.toml say, and what of that does not hold."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.lock.bounds import together
from dynamo_core.lock.comparison import Bounds, Checked, Difference, check
from dynamo_core.lock.facts import Facts
from dynamo_core.shared.quick_dataclass import dataclass

_MOST: Mapping[str, str] = {
    "max_breaks": "graph-breaks",
    "max_recompiles": "recompiles",
    "max_graphs": "graphs",
    "max_frames_run_eager": "frames-run-eager",
}
_KNOWN = (*_MOST, "fullgraph", "allow", "reset")


@dataclass(frozen=True)
class Expectation:
    """`fullgraph` asks for a graph, and for no break in it; `reset` that the test finds nothing compiled."""

    bounds: Bounds | None = None
    fullgraph: bool = False
    reset: bool = True

    def check(self, test: str, now: Facts, locked: Facts | None) -> Checked:
        """What a test compiled, beside this and beside what is locked, if anything is."""
        checked = check(test, now, locked, self.bounds)
        if self.fullgraph and now.counts["graphs"] == 0:
            missing = Difference("worse", "fullgraph: no graph was compiled")
            checked = replace(checked, differences=(missing, *checked.differences))
        return checked


def expectation_of(marks: Iterable[pytest.Mark], of_project: Bounds | None) -> Expectation:
    """What markers say, the farthest first, and before them the project; ValueError for what is not known."""
    expected = Expectation(of_project)
    for mark in marks:
        expected = _with_mark(expected, mark)
    return expected


def _with_mark(expected: Expectation, mark: pytest.Mark) -> Expectation:
    if mark.args:
        raise ValueError(f"@pytest.mark.dynamo takes keywords only, not {mark.args[0]!r}")
    said: dict[str, Any] = dict(mark.kwargs)
    unknown = sorted(set(said) - set(_KNOWN))
    if unknown:
        raise ValueError(
            f"@pytest.mark.dynamo has {unknown[0]!r}, which is not known; known are {', '.join(_KNOWN)}"
        )
    for name in ("fullgraph", "reset"):
        if type(said.get(name, True)) is not bool:
            raise ValueError(f"@pytest.mark.dynamo: {name} is neither True nor False")
    allowed = said.get("allow", ())
    if isinstance(allowed, str) or not all(isinstance(each, str) for each in allowed):
        raise ValueError("@pytest.mark.dynamo: allow is not a list of identities")
    fullgraph = said.get("fullgraph", expected.fullgraph)
    most = dict.fromkeys(("graph-breaks", "frames-run-eager"), 0) if said.get("fullgraph") else {}
    for name, count in _MOST.items():
        if name in said:
            most[count] = said[name]
            if type(said[name]) is not int or said[name] < 0:
                raise ValueError(f"@pytest.mark.dynamo: {name} is not a number from 0")
    bounds = together(expected.bounds, Bounds(most, frozenset(allowed)))
    return Expectation(bounds, fullgraph, said.get("reset", expected.reset))
