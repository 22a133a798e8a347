"""The identity of a recompile for what a line finds by the order of a set, another one in each process."""

from pathlib import Path

from dynamo_core.findings import find
from dynamo_core.model import Recording, Run
from support.made_causes import opened, process


def identity(first: str, *others: str, line: str) -> str:
    """Of a recompile in which several members have changed, and torch names the first."""
    return identity_of(f"kw['{first}'] == 2", *others, line=line)


def identity_of(check: str, *others: str, line: str) -> str:
    one = process(
        [f"0/0: {check}  # {line}  # me/train.py:5 in f"],
        symbols=[opened(f"L['kw']['{each}']") for each in others],
    )
    found = find(Recording(Path("rec"), Run(exit_code=0), [one], 1, []))
    return next(each.identity for each in found if each.kind == "recompile")


def test_members_that_changed_together_have_one_identity() -> None:
    line = "x = x + kw[n]"
    orders = (("a", "b", "c"), ("b", "a", "c"), ("c", "b", "a"))
    assert len({identity(*order, line=line) for order in orders}) == 1
    assert identity("a", line=line) != identity("b", line=line)


def test_members_that_the_line_names_are_told_apart() -> None:
    line = "x = kw['a'] + kw['b']"
    assert identity("a", "b", line=line) != identity("b", "a", line=line)


def test_which_member_a_set_was_asked_for_first_is_not_in_the_identity() -> None:
    line = "if name in chosen:"
    asked = {identity_of(f"set.__contains__(chosen, '{each}')", line=line) for each in ("alpha", "gamma")}
    assert len(asked) == 1
    assert identity_of("set.__contains__(others, 'alpha')", line=line) not in asked
