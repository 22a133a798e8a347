"""Speed-ups as text."""

import pytest

from dynamo_reporters.parts.measured import factor, interval


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "1.23"), (100, "100.00"), (101, "> 100"), (0.01, "0.01"), (0.009, "< 0.01")]
)
def test_what_no_speed_up_can_be_is_beyond_a_bound(value: float, text: str) -> None:
    assert factor(value) == text


def test_an_interval_goes_from_to() -> None:
    assert interval(0.5, 200) == "0.50 to > 100"
