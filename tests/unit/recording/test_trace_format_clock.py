"""When records were written, told from one whose moment is known."""

import pytest

from dynamo_core.recording.structured import RecordClock
from dynamo_core.recording.trace_format import Record, RecordParser

BEGAN_NS = 1_795_309_821_830_498_192


def record(time: str) -> Record:
    parser = RecordParser()
    list(parser.feed(f'V{time} 7 torch/x.py:1] {{"dynamo_start": {{}}}}\n'.encode()))
    found = parser.finish()
    assert found is not None
    return found


@pytest.mark.parametrize(
    "first, then, seconds",
    [
        ("1122 01:10:21.500000", "1122 01:10:23.750001", 2.250001),
        ("1122 23:59:59.000000", "1123 00:00:01.000000", 2),
        ("1231 23:59:59.000000", "0101 00:00:01.000000", 2),
        ("1122 01:10:21.500000", "1122 01:10:21.400000", -0.1),
    ],
)
def test_moments(first: str, then: str, seconds: float) -> None:
    clock = RecordClock()
    assert clock.moment(record(first)) is None
    clock.start(record(first), BEGAN_NS)
    assert clock.moment(record(then)) == BEGAN_NS + round(seconds * 1e6) * 1000


@pytest.mark.parametrize("strange", ["9999 99:99:99.0", "0230 00:00:00.0"])
def test_a_moment_that_is_none(strange: str) -> None:
    clock = RecordClock()
    clock.start(record(strange), BEGAN_NS)
    assert clock.moment(record(strange)) is None
