"""Frames wait while compiling has taken more CPU time than the program itself, by more than the allowance."""

import time
from typing import Any

from dynamo_core.capture.whole_program.limits import Budget
from dynamo_core.shared.our_record import OurRecord


class Stream:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def record(self, record: OurRecord) -> None:
        self.records.append(record.payload())


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


CODE = work.__code__


def test_a_frame_waits_until_the_program_has_caught_up() -> None:
    stream = Stream()
    budget = Budget(0.02, stream)  # type: ignore[arg-type]
    assert not budget.defers(CODE)
    with budget.spending():
        work(0.1)
    assert budget.defers(CODE)
    assert budget.defers(CODE)
    work(0.15)
    assert not budget.defers(CODE)
    budget.finish()
    assert [record["times"] for record in stream.records] == [1, 2]
    assert stream.records[0]["name"] == "work"


def test_without_an_allowance_nothing_waits() -> None:
    budget = Budget(None, Stream())  # type: ignore[arg-type]
    with budget.spending():
        work(0.01)
    assert not budget.defers(CODE)
