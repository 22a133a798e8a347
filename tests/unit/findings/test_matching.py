"""Which findings of two runs are the same one, and which are not."""

from dataclasses import replace

import pytest

from dynamo_core.findings.matching import KnownFinding, pair_findings

BREAK = KnownFinding("graph-break-1", "graph break", "model.py", "forward", "y = x.sum() + b", "print")


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"file": "net.py"}, True),
        ({"file": "net.py", "function": "run"}, True),
        ({"line": "y = x.mean() + b"}, True),
        ({"line": "z = a.sum() + c"}, True),
        ({"line": "return x.sum() + b", "function": "run_2"}, True),
        ({"line": "y = x.mean() + b", "function": "run"}, False),
        ({"line": "y = x.mean() + b", "file": "net.py"}, False),
        ({"cause": "open"}, False),
        ({"kind": "fell back to eager"}, False),
    ],
)
def test_what_may_change(changes: dict[str, str], is_same: bool) -> None:
    other = replace(BREAK, identity="graph-break-2", **changes)
    assert pair_findings([BREAK], [other]) == ({BREAK.identity: other.identity} if is_same else {})


def test_a_renamed_variable_is_told_from_another_one_of_the_line() -> None:
    of_x = replace(BREAK, line="return x + y", cause="size x 0")
    renamed = replace(of_x, identity="2", line="return a + y", cause="size a 0")
    of_y = replace(of_x, identity="3", cause="size y 0")
    assert pair_findings([of_x], [of_y, renamed]) == {of_x.identity: "2"}
    assert pair_findings([of_x], [of_y]) == {}


def test_members_that_a_line_finds_by_the_order_of_a_set() -> None:
    one = KnownFinding("recompile-1", "recompile", "model.py", "f", "x = x + kw[n]", "value kw['aa']")
    other = replace(one, identity="recompile-2", cause="value kw['bb']")
    assert pair_findings([one], [other]) == {one.identity: other.identity}
    assert pair_findings([one], [replace(other, cause="value others['bb']")]) == {}
    assert pair_findings([one], [replace(other, cause="size kw['bb'] 0")]) == {}
    sizes = [replace(one, cause="size m.aa 0"), replace(other, cause="size m.bb 0")]
    assert pair_findings(sizes[:1], sizes[1:]) == {one.identity: other.identity}
    named = [replace(each, line="x = kw['aa'] + kw['bb']") for each in (one, other)]
    assert pair_findings(named[:1], named[1:]) == {}


def test_another_torch_words_the_same_cause_otherwise() -> None:
    other = replace(BREAK, identity="graph-break-2", cause="open")
    assert pair_findings([BREAK], [other], are_of_one_torch=False) == {BREAK.identity: other.identity}
    without_line = [replace(each, line="", function="f") for each in (BREAK, other)]
    assert pair_findings(without_line[:1], without_line[1:], are_of_one_torch=False) == {}


def test_the_surest_pair_comes_first_and_each_is_in_one() -> None:
    edited = replace(BREAK, identity="graph-break-2", line="edited")
    moved = replace(BREAK, identity="graph-break-3", file="net.py")
    assert pair_findings([BREAK], [edited, moved]) == {BREAK.identity: moved.identity}
    assert pair_findings([BREAK], [moved, edited, BREAK]) == {BREAK.identity: BREAK.identity}
    assert pair_findings([edited, BREAK], [moved]) == {BREAK.identity: moved.identity}
