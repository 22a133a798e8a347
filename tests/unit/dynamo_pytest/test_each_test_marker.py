"""What `@pytest.mark.dynamo(...)` may say, and what is expected of a test then."""

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.compare.lock import Bounds
from dynamo_core.compare.lock_file import Facts
from dynamo_pytest.each_test import Expectation, expectation_of

NOTHING = Facts({"graphs": 0, "graph-breaks": 0, "recompiles": 0, "frames-run-eager": 0})


def expected(*keywords: dict[str, object], of_project: Bounds | None = None) -> Expectation:
    """Of markers with these keywords, the farthest first."""
    return expectation_of([mark(**each) for each in keywords], of_project)


def mark(*arguments: object, **keywords: object) -> Any:
    """As pytest gives it; a real one would have to be registered here."""
    return SimpleNamespace(args=arguments, kwargs=keywords)


def test_each_keyword_bounds_its_count() -> None:
    said = expected({"max_breaks": 1, "max_recompiles": 2, "max_graphs": 3, "max_frames_run_eager": 4})
    most = {"graph-breaks": 1, "recompiles": 2, "graphs": 3, "frames-run-eager": 4}
    assert said == Expectation(Bounds(most), fullgraph=False, reset=True)


def test_the_nearest_marker_wins_and_all_findings_are_allowed() -> None:
    of_project = Bounds({"graphs": 9, "recompiles": 9}, frozenset({"a"}))
    said = expected(
        {"max_graphs": 2, "allow": ["b"], "reset": False}, {"max_graphs": 1}, of_project=of_project
    )
    assert said.bounds == Bounds({"graphs": 1, "recompiles": 9}, frozenset({"a", "b"}))
    assert said.reset is False


def test_fullgraph_asks_for_a_graph_and_no_break() -> None:
    said = expected({"fullgraph": True, "max_breaks": 1})
    assert said.bounds == Bounds({"graph-breaks": 1, "frames-run-eager": 0})
    worse = said.check("t", NOTHING, None).worse
    assert [each.text for each in worse] == ["fullgraph: no graph was compiled"]
    assert not expected({"max_breaks": 0}).check("t", NOTHING, None).worse
    graph = Facts({**NOTHING.counts, "graphs": 1})
    assert not said.check("t", graph, None).worse


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"max_brakes": 0}, "'max_brakes', which is not known; known are max_breaks, "),
        ({"max_breaks": -1}, "max_breaks is not a number from 0"),
        ({"max_graphs": True}, "max_graphs is not a number from 0"),
        ({"fullgraph": "yes"}, "fullgraph is neither True nor False"),
        ({"allow": "graph-break-1"}, "allow is not a list of identities"),
    ],
)
def test_what_is_not_known_is_an_error(keywords: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        expected(keywords)


def test_a_marker_takes_no_positional_arguments() -> None:
    with pytest.raises(ValueError, match="keywords only, not 'max_breaks'"):
        expectation_of([mark("max_breaks")], None)
