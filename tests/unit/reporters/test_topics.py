"""The grammar of DYNAMO_LOGS."""

import pytest

from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import Detail
from dynamo_reporters.topics import DESCRIPTIONS, UnknownTopic, lines_and_blocks, parse_topics
from support.made import compiled


def test_a_name_is_a_line_and_each_plus_is_more() -> None:
    assert parse_topics("graphs, +breaks,++times,+++ops") == {
        "graphs": Detail.LESS,
        "breaks": Detail.NORMAL,
        "times": Detail.MORE,
        "ops": Detail.MORE,
    }


def test_a_name_of_its_own_goes_before_all() -> None:
    topics = parse_topics("guards,-ops,+all")
    assert topics["guards"] is Detail.LESS
    assert set(topics) == set(DESCRIPTIONS) - {"all", "ops"}
    assert topics["graphs"] is Detail.NORMAL
    assert parse_topics("-graphs") == {}


def test_an_event_is_a_line_or_a_block() -> None:
    compile_ = compiled(1, 2.0, "0/0: tensor 'x' size mismatch\nmore")
    lines, blocks = lines_and_blocks(compile_, parse_topics("recompiles,+times"))
    assert lines == ["recompile [0/1] f (/home/me/train.py:3): 0/0: tensor 'x' size mismatch"]
    assert plain_text(blocks).startswith("compile [0/1] f took 2.00 s")
    assert lines_and_blocks(compile_, parse_topics("graphs")) == ([], [])


@pytest.mark.parametrize(("text", "nearest"), [("graph", "graphs"), ("+recompile", "recompiles")])
def test_an_unknown_name_suggests_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(UnknownTopic, match=nearest):
        parse_topics(text)


def test_nothing_is_nothing() -> None:
    assert parse_topics(" , ") == {}
