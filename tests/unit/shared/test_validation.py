"""Whether a value of a stranger's is what an annotation says, down to the last item."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pytest

from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.validation import check_of_values, if_recorded, matches


class Pair(NamedTuple):
    name: str
    number: int | None


@dataclass(frozen=True)
class Tree:
    pair: Pair
    inside: "tuple[Tree, ...]" = ()


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (int, [0, -1, 2**63, -(2**63)], [True, 1.0, "1", None, 2**63 + 1, -(2**63) - 1]),
        (float, [0, 1.5, 2**63], [False, "1", float("nan"), float("inf"), 10**400, 2**63 + 1]),
        (bool, [True, False], [0, 1, None]),
        (str, ["", "a"], [b"a", None, 1]),
        (int | None, [None, 3], [False, "3"]),
        (Any, [None, object(), {}], []),
        (None | Literal["a", "b"], ["a", None], ["c", 1, ""]),
        (list[int], [[], [1, 2]], [[1, "2"], (1,), None]),
        (tuple[int, ...], [(), (1,)], [[1], (None,)]),
        (tuple[str, int], [("a", 1)], [("a",), ("a", 1, 1), (1, "a"), ["a", 1]]),
        (dict[str, list[int]], [{}, {"a": [1]}], [{1: [1]}, {"a": 1}, {"a": ["1"]}, []]),
        (Mapping[str, float | None], [{"a": None}], [{"a": "b"}, [("a", 1.0)]]),
        (Pair, [Pair("a", None), Pair("a", 1)], [Pair("a", True), Pair(None, 1), ("a", 1)]),  # type: ignore[arg-type]
        (
            Tree,
            [Tree(Pair("a", 1), (Tree(Pair("b", None)),))],
            [Tree(Pair("a", 1), (Pair("b", 1),)), Tree(Pair("a", 1), (Tree(Pair("b", "c")),))],  # type: ignore[arg-type]
        ),
    ],
)
def test_a_value_fits_or_not(hint: Any, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not matches(value, hint)] == []
    assert [value for value in bad if matches(value, hint)] == []


def test_of_a_dictionary_what_is_not_required_may_be_missing_but_not_wrong() -> None:
    check = check_of_values({"a": int, "b": str}, {"a"})
    assert check({"a": 1}) and check({"a": 1, "b": "x", "c": None})
    assert not check({"a": 1, "b": 2})
    assert not check({"a": "1"})
    assert check_of_values({}, ())({"a": 1})
    with pytest.raises(KeyError):
        check({"b": "x"})


@pytest.mark.parametrize("number", [None, float("nan"), float("inf"), 1e19, -1e30])
def test_a_number_that_no_recording_has(number: float | None) -> None:
    assert if_recorded(number) is None


def test_a_number_that_a_recording_has() -> None:
    assert [if_recorded(each) for each in (0.0, -1e18, 5e-324)] == [0.0, -1e18, 5e-324]
