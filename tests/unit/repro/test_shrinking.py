"""Delta debugging of plain items."""

from collections.abc import Callable, Sequence

from dynamo_core.repro.shrinking import least, minimal


def first(fails: Callable[[Sequence[int]], bool]) -> Callable[[Sequence[Sequence[int]]], int | None]:
    def found(candidates: Sequence[Sequence[int]]) -> int | None:
        return next((index for index, each in enumerate(candidates) if fails(each)), None)

    return found


def test_items_that_are_needed_are_left() -> None:
    assert list(minimal(range(500), first(lambda items: {7, 311, 499} <= set(items)))) == [7, 311, 499]


def test_nothing_is_left_where_nothing_is_needed() -> None:
    assert list(minimal([1, 2, 3], first(lambda items: True))) == []


def test_all_is_left_where_all_is_needed() -> None:
    assert list(minimal([1, 2, 3], first(lambda items: len(items) == 3))) == [1, 2, 3]


def test_few_trials_find_one_item_of_many() -> None:
    tried: list[Sequence[int]] = []

    def fails(items: Sequence[int]) -> bool:
        tried.append(items)
        return 123 in items

    assert list(minimal(range(512), first(fails))) == [123]
    assert len(tried) < 40


def test_least_number_for_which_something_holds() -> None:
    for wanted in range(1, 60):
        found = least(1, 60, lambda tried: next((i for i, n in enumerate(tried) if n >= wanted), None))  # noqa: B023
        assert found == wanted


def test_least_is_the_upper_bound_where_it_holds_for_none_below() -> None:
    assert least(1, 10, lambda tried: None) == 10
