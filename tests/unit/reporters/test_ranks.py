"""The page of `dynamo ranks`: which difference may be the cause, rows of ranks, and who is inside of what."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.ranks import (
    CompileWaits,
    Difference,
    GradientsOfRank,
    LateRank,
    RankRow,
    Ranks,
    Wait,
)
from dynamo_core.analysis.ranks.members import Side, Subject
from dynamo_core.analysis.selection import Selection, select
from dynamo_core.analysis.words import time_of_day
from dynamo_core.case import Case
from dynamo_core.compare.node_changes import SourceLines
from dynamo_reporters import ranks as page_of_ranks
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.blocks import Block, Bullets, Heading, Paragraph, Table
from dynamo_reporters.parts.sections import other_ranks_blocks
from support.made import S
from support.ranks_by_hand import HERE, collective, graph, of, rank

ROW = RankRow((0, 1), "ended", 2, 1200, 0, None, 3, 1, 1.0, 2.0)
NOTHING = CompileWaits((), 0.0, (), 0, 0, 0, 0)
RANKS = Ranks((ROW,), (), (), (), NOTHING, (), (), ("the graphs", "their ops"), ("what runs outside", "time"))
LATE = LateRank(1, 1, "all_reduce", HERE, 3, 4, (0,), 1.0, 2, 0.6)


def difference(subject: Subject, title: str) -> Difference:
    return Difference(subject, title, (Side((0, 1, 2), "one", HERE), Side((3,), "other")))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    def blocks(ranks: Ranks) -> list[Block]:
        monkeypatch.setattr(Case, "ranks", ranks)
        return [*page_of_ranks.report().page(Case(of(rank(0), rank(1))))]

    return blocks


def headings(blocks: list[Block]) -> list[tuple[str, int]]:
    return [(each.text, each.level) for each in blocks if isinstance(each, Heading)]


def texts(blocks: list[Block]) -> list[str]:
    return [each.text for each in blocks if isinstance(each, Paragraph)]


@pytest.mark.parametrize(("count", "title"), [(0, "No rank was recorded"), (1, "One rank was recorded")])
def test_of_fewer_than_two_there_is_nothing_to_compare(page: Any, count: int, title: str) -> None:
    rows = (replace(ROW, ranks=tuple(range(count))),) if count else ()
    first, second = page(replace(RANKS, rows=rows))
    assert first == Heading(f"{title}: there is nothing to compare.", 1)
    assert second.text.startswith("The rank of a process is in its environment (RANK)")


def test_the_first_thing_to_say_is_the_title_and_other_waits_are_below_it(page: Any) -> None:
    waiting = ("rank 0 waits", "rank 1 waits too")
    found = replace(RANKS, waiting=waiting, differences=(difference("graphs", "x"),))
    blocks = page(found)
    assert headings(blocks)[0] == ("2 ranks: rank 0 waits", 1)
    assert blocks[1] == Paragraph("Rank 1 waits too.", "warning")
    assert headings(page(replace(found, waiting=())))[0] == ("2 ranks: x", 1)


@pytest.mark.parametrize(("seconds", "is_said"), [(0.99, False), (1.0, True)])
def test_without_a_difference_the_title_has_who_came_late_from_a_second_on(
    page: Any, seconds: float, is_said: bool
) -> None:
    later = replace(LATE, rank=0, seconds=9.0)
    title, _ = headings(page(replace(RANKS, late=(replace(LATE, seconds=seconds), later))))[0]
    longer = ", but calls with a collective took 1.00 s longer on others than on rank 1" if is_said else ""
    assert title == f"2 ranks: no difference in what was compared{longer}"
    assert headings(page(RANKS))[0] == ("2 ranks: no difference in what was compared", 1)


def test_who_came_last_stands_behind_a_difference(page: Any) -> None:
    times = [GradientsOfRank(n, "Net", 10, 0.1, 0.2, each, each) for n, each in ((0, 0.3), (1, 0.01))]
    differ = replace(
        RANKS, differences=(difference("graphs", "graph 1 is not the same"),), gradients=tuple(times)
    )
    title, _ = headings(page(differ))[0]
    assert title.startswith(
        "2 ranks: graph 1 is not the same; rank 1 came last to exchange gradients: in step 10"
    )
    assert "came last" not in headings(page(replace(differ, waiting=("rank 0 waits",))))[0][0]


def test_a_row_has_the_counts_of_its_ranks_and_the_least_and_most_they_compiled(page: Any) -> None:
    other = RankRow((5,), "killed", None, 0, 1, 2, 0, 0, 1.0, 1.0)
    (rows,) = (each for each in page(replace(RANKS, rows=(ROW, other))) if isinstance(each, Table))
    assert [each.name for each in rows.columns] == [
        *("ranks", "state", "graphs", "ops", "breaks", "recompiles", "cache hits", "compile time")
    ]
    assert [*map(list, rows.rows)] == [
        ["0 and 1", "ended", "2", "1,200", "0", "not recorded", "3 of 4", "1.00 s to 2.00 s"],
        ["5", "killed", "not recorded", "0", "1", "2", "0 of 0", "1.00 s"],
    ]


def test_settings_that_differ_come_with_the_first_difference_that_they_may_be_the_cause_of(page: Any) -> None:
    found = (
        difference("settings", "RANK_DEBUG is not the same"),
        difference("graphs", "graph 1 is not the same"),
        difference("caches", "a look-up is not the same"),
    )
    assert headings(page(replace(RANKS, differences=found)))[1:] == [
        ("RANK_DEBUG is not the same", 2),
        ("Graph 1 is not the same", 2),
        ("Other differences, which may follow from that", 2),
        ("A look-up is not the same", 3),
        ("What was compared", 2),
    ]
    assert "Other differences" not in str(headings(page(replace(RANKS, differences=found[:2]))))
    assert "Other differences" not in str(headings(page(replace(RANKS, differences=found[:1]))))
    only = headings(page(replace(RANKS, differences=found[1:])))
    assert [title for title, level in only if level == 3] == ["A look-up is not the same"]


def test_each_side_of_a_difference_has_its_ranks_and_its_line_as_far_as_it_is_known(page: Any) -> None:
    blocks = page(replace(RANKS, differences=(difference("graphs", "x"),)))
    _, sides = (each for each in blocks if isinstance(each, Table))
    assert [*map(list, sides.rows)] == [["0-2", "one", "/home/user/train.py:7", ""], ["3", "other", "", ""]]


def bullets(blocks: list[Block]) -> list[str]:
    (found,) = (each for each in blocks if isinstance(each, Bullets))
    return [*found.items]


@pytest.mark.parametrize(
    ("collectives", "said"),
    [
        (None, ""),
        ((), ""),
        (("all_reduce",), ": all_reduce"),
        (tuple("abcdef"), ": a, b, c, d, e, f"),
        (tuple("abcdefgh"), ": a, b, c, d, e, f and 2 more"),
    ],
)
def test_what_ranks_are_inside_of_is_said_with_its_first_six_collectives(
    page: Any, collectives: tuple[str, ...] | None, said: str
) -> None:
    wait = Wait((0, 1), "graph 1", 100 * S, HERE, collectives)
    blocks = page(replace(RANKS, waits=(wait,)))
    since = time_of_day(100 * S)
    assert bullets(blocks) == [f"ranks 0 and 1: graph 1, since {since}, at /home/user/train.py:7{said}"]
    assert ("Not finished", 2) in headings(blocks)
    nowhere = replace(wait, ranks=(1,), place=None, collectives=None)
    assert bullets(page(replace(RANKS, waits=(nowhere,)))) == [f"rank 1: graph 1, since {since}"]
    assert ("Not finished", 2) not in headings(page(RANKS))


def test_what_was_compared_not_compared_and_left_out_ends_the_page(page: Any) -> None:
    same, not_compared, not_measured = texts(page(RANKS))[-3:]
    assert same == "The same on all ranks: the graphs; their ops."
    assert not_compared == "Not compared: what runs outside; time."
    assert not_measured.startswith("Not measured: how long ranks wait in collectives outside of compiled")
    without = texts(page(replace(RANKS, compared=(), left_out=("an earlier job", "a worker"))))
    assert without[-3:] == [not_compared, not_measured, "Left out: an earlier job; a worker."]
    assert not any(text.startswith("The same") for text in without)


def test_in_short_there_are_all_that_wait_the_rows_and_the_first_difference() -> None:
    found = replace(
        RANKS,
        waiting=("rank 0 waits", "rank 1 waits too"),
        differences=(difference("graphs", "first"), difference("caches", "second")),
    )
    blocks = [*page_of_ranks.in_short(found, SourceLines(of()))]
    assert texts(blocks) == ["Rank 0 waits.", "Rank 1 waits too."]
    assert headings(blocks) == [("First", 2)]
    assert sum(isinstance(each, Table) for each in blocks) == 2
    assert len([*page_of_ranks.in_short(RANKS, SourceLines(of()))]) == 1


def test_the_page_of_one_rank_of_several_says_what_differs_among_them() -> None:
    alike = of(*(rank(n, graph(collective("all_reduce"))) for n in range(2)))
    unlike = of(*(rank(n, graph(collective("all_reduce", size=8 + n))) for n in range(2)))
    (line,) = other_ranks_blocks(select(unlike, Selection(rank=1)))
    assert isinstance(line, Paragraph)
    assert line.text.startswith("All ranks beside each other: the 1st collective")
    assert line.text.endswith(". `dynamo ranks` says more.")
    assert [*other_ranks_blocks(select(alike, Selection(rank=1)))] == [], "they do not differ"
    assert [*other_ranks_blocks(unlike)] == [], "none was selected"
    only = of(unlike.processes[0])
    assert [*other_ranks_blocks(select(only, Selection(rank=0)))] == []
    both = replace(unlike, whole=unlike)
    assert [*other_ranks_blocks(both)] == [], "both are on the page"


def test_the_document_has_what_the_page_has() -> None:
    recording = of(*(rank(n, graph(collective("all_reduce", size=8 + n))) for n in range(2)))
    body = json_value(page_of_ranks.report().body(Case(recording)))
    assert [side["ranks"] for side in body["differences"][0]["sides"]] == [[0], [1]]
    assert [row["ranks"] for row in body["rows"]] == [[0, 1]]
