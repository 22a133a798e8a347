"""`dynamo cache`: how long ago a file was used."""

import pytest

from dynamo_reporters.cache import _age


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (None, ""),
        (1 / 48, "30 min ago"),
        (1 / 24, "1 h ago"),
        (1.9, "46 h ago"),
        (2.0, "2 days ago"),
        (1200.0, "1,200 days ago"),
    ],
)
def test_an_age_is_in_minutes_hours_or_days(days: float | None, words: str) -> None:
    assert _age(days) == words
