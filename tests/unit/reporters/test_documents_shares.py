"""Shares of a whole: what adds up is shown as adding up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_reporters.documents import shares_of


def test_thirds_and_halves_of_a_unit_add_up() -> None:
    assert shares_of([1, 1, 1], 3) == ["33.4%", "33.3%", "33.3%"]
    assert shares_of([0.3335, 0.3335, 0.333], 1.0) == ["33.4%", "33.3%", "33.3%"]  # each by itself: 100.1
    assert shares_of([1, 1], 2, digits=0) == ["50%", "50%"]


def test_what_is_not_known_has_no_share_and_more_than_the_whole_is_shown() -> None:
    assert shares_of([1.0, None, 2.0], 4) == ["25.0%", "", "50.0%"]
    assert shares_of([3.0, 2.0], 4) == ["75.0%", "50.0%"]
    assert shares_of([1.0], 0) == [""]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=12))
def test_parts_of_a_whole_are_100_percent_and_none_is_off_by_a_unit(parts: list[float]) -> None:
    shown = [float(text.removesuffix("%")) for text in shares_of(parts, sum(parts))]
    assert sum(shown) == pytest.approx(100.0)
    assert all(
        abs(each - 100 * part / sum(parts)) < 0.1 + 1e-9 for each, part in zip(shown, parts, strict=True)
    )
