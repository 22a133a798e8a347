"""The grammar of DYNAMO_LOGS."""

import pytest

from dynamo_reporters.report import Detail
from dynamo_reporters.topics import DESCRIPTIONS, UnknownTopic, parse_topics


def test_plus_is_more_and_minus_is_less() -> None:
    assert parse_topics("graphs, +breaks,-times") == {
        "graphs": Detail.NORMAL,
        "breaks": Detail.MORE,
        "times": Detail.LESS,
    }


def test_a_name_of_its_own_goes_before_all() -> None:
    topics = parse_topics("-guards,+all")
    assert topics["guards"] is Detail.LESS
    assert set(topics) == set(DESCRIPTIONS) - {"all"}
    assert topics["graphs"] is Detail.MORE


@pytest.mark.parametrize(("text", "nearest"), [("graph", "graphs"), ("+recompile", "recompiles")])
def test_an_unknown_name_suggests_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(UnknownTopic, match=nearest):
        parse_topics(text)


def test_nothing_is_nothing() -> None:
    assert parse_topics(" , ") == {}
