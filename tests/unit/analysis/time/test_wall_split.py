"""Where the wall time went, as a table: which parts of parts are listed, and what they leave."""

import pytest

from dynamo_core.analysis.time.wall import Part, WallTime
from dynamo_core.case import Case
from dynamo_core.model import ProcessInfo
from dynamo_reporters.page.blocks import Table
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile import report
from support.made import S, of_one_process


def rows(monkeypatch: pytest.MonkeyPatch, *parts: Part, show_all: bool = False) -> list[tuple[str, str]]:
    """What the table of a process of 100 s has as names, times and shares."""
    monkeypatch.setattr(Case, "wall", lambda *_: WallTime(0, 100 * S, True, parts))
    (table,) = (
        block
        for block in report.run_split_blocks(Case(of_one_process()), show_all)
        if isinstance(block, Table)
    )
    return [(row[0].strip(" ·"), row[1]) for row in table.rows]


def test_parts_of_a_part_are_listed_the_largest_first_with_what_they_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiling = Part(
        "compiling", 60.0, parts=(Part("tracing", 10.0), Part("backend", 40.0), Part("tiny", 0.5))
    )
    found = rows(monkeypatch, compiling, Part("rest", 40.0))
    assert found == [
        ("compiling", "60.00 s"),
        ("backend", "40.00 s"),
        ("tracing", "10.00 s"),
        ("the rest", "10.00 s"),
        ("rest", "40.00 s"),
    ]
    shown = [name for name, _ in rows(monkeypatch, compiling, show_all=True)]
    assert shown == ["compiling", "backend", "tracing", "tiny", "the rest"]


def test_a_rest_of_next_to_nothing_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def names(inner: float, *more: Part) -> list[str]:
        part = Part("compiling", 60.0, parts=(Part("backend", inner), *more))
        return [name for name, _ in rows(monkeypatch, part)]

    assert names(40.0, Part("tracing", 19.8)) == ["compiling", "backend", "tracing"]
    assert names(40.0, Part("tracing", 19.6)) == ["compiling", "backend", "tracing", "the rest"]
    assert names(59.8) == ["compiling"], "the only part is all of it"
    assert names(59.0) == ["compiling", "backend", "the rest"]


def test_a_process_that_was_cut_off_or_whose_begin_is_unknown_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unknown = plain_text(report.run_split_blocks(Case(of_one_process(None)), show_all=False))
    assert unknown.startswith("Wall time: not recorded\n")
    cut = WallTime(0, 100 * S, False, (Part("rest", 100.0, note="of several threads"),))
    monkeypatch.setattr(Case, "wall", lambda *_: cut)
    forked = of_one_process(info=ProcessInfo(pid=1, forked=True))
    told = plain_text(report.run_split_blocks(Case(forked), show_all=False))
    assert told.startswith("Wall time: 100 s\n") and "or was cut off" in told
    assert "- rest: of several threads." in told and "It was forked" in told
