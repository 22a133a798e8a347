"""Our dataclass beside the standard one: what is compared, hashed and shown is the same."""

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from dynamo_core.shared import quick_dataclass


def classes(dataclass: Any) -> dict[str, Callable[..., Any]]:
    @dataclass(frozen=True)
    class Frozen:
        number: int
        text: str = "x"
        noted: int = field(default=0, compare=False)
        secret: str = field(default="s", repr=False)

    @dataclass
    class Plain:
        numbers: list[int] = field(default_factory=list)

    @dataclass(frozen=True)
    class Below(Frozen):
        more: tuple[int, ...] = ()

    @dataclass(frozen=True)
    class ComparesItself:
        number: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, ComparesItself) and abs(self.number) == abs(other.number)

    @dataclass(frozen=True, eq=False)
    class ByIdentity:
        number: int

    @dataclass(frozen=True)
    class Empty:
        pass

    return {kind.__name__: kind for kind in (Frozen, Plain, Below, ComparesItself, ByIdentity, Empty)}


STANDARD, OURS = classes(dataclasses.dataclass), classes(quick_dataclass.dataclass)
MADE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Frozen", (1,), {}),
    ("Frozen", (1,), {"noted": 7}),
    ("Frozen", (1,), {"secret": "t"}),
    ("Frozen", (2, "y"), {}),
    ("Plain", ([1],), {}),
    ("Plain", (), {}),
    ("Below", (1,), {}),
    ("Below", (1,), {"more": (2,)}),
    ("ComparesItself", (1,), {}),
    ("ComparesItself", (-1,), {}),
    ("ByIdentity", (1,), {}),
    ("Empty", (), {}),
]


def made(kinds: dict[str, Callable[..., Any]]) -> list[Any]:
    return [kinds[name](*values, **named) for name, values, named in MADE]


def can_be_hashed(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def test_it_compares_hashes_and_shows_as_the_standard_one() -> None:
    ours, theirs = made(OURS), made(STANDARD)
    again_ours, again_theirs = made(OURS), made(STANDARD)
    equal_ours = [[one == other for other in again_ours] for one in ours]
    assert equal_ours == [[one == other for other in again_theirs] for one in theirs]
    assert list(map(can_be_hashed, ours)) == list(map(can_be_hashed, theirs))
    assert [len({one, other}) for one, other in zip(ours, again_ours, strict=True) if can_be_hashed(one)] == [
        len({one, other}) for one, other in zip(theirs, again_theirs, strict=True) if can_be_hashed(one)
    ]
    assert list(map(repr, ours)) == [text.replace("STANDARD", "OURS") for text in map(repr, theirs)]
    assert list(map(dataclasses.asdict, ours)) == list(map(dataclasses.asdict, theirs))
    assert [dataclasses.replace(one) == one for one in ours] == [
        dataclasses.replace(one) == one for one in theirs
    ]


def test_a_field_that_is_missing_is_an_error() -> None:
    with pytest.raises(TypeError, match="number"):
        OURS["Frozen"]()


@quick_dataclass.dataclass(frozen=True)
class Carried:
    number: int


def test_it_can_be_carried_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Carried(3))) == Carried(3)


@pytest.mark.parametrize("dataclass", [dataclasses.dataclass, quick_dataclass.dataclass])
def test_the_first_one_and_those_after_it_are_made_as_the_standard_ones_are(dataclass: Any) -> None:
    @dataclass
    class Counted:
        number: int
        numbers: list[int] = field(default_factory=list)
        worked_out: int = field(init=False, default=0)
        named: str = field(default="x", kw_only=True)

        def __post_init__(self) -> None:
            self.worked_out = self.number + 1

    @dataclass
    class OfItsOwn(Counted):
        def __init__(self) -> None:
            super().__init__(3, named="own")

    for _ in range(2):
        made = Counted(1, named="y")
        made.numbers.append(1)
        assert dataclasses.astuple(made) == (1, [1], 2, "y")
        assert dataclasses.astuple(OfItsOwn()) == (3, [], 4, "own")
        wrongs: list[dict[str, Any]] = [{}, {"number": 1, "worked_out": 2}, {"number": 1, "other": 2}]
        for wrong in wrongs:
            with pytest.raises(TypeError):
                Counted(**wrong)
    assert dataclasses.replace(made, number=5).worked_out == 6
