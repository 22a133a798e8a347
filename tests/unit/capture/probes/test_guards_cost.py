"""The time of guards: those of the entry that made the call, at the 1st, 2nd, 4th call and so on."""

import sys
from types import FrameType, SimpleNamespace
from typing import Any

from dynamo_core.capture.probes.guards import GuardCost
from dynamo_core.shared.call_pages import GUARD_NS, GUARD_SAMPLES

COMPILE = {"frame_id": 3, "frame_compile_id": 1}


class Manager:
    """In place of torch's; it remembers the values that its guards were evaluated with."""

    def __init__(self, holds: bool = True) -> None:
        self.seen: list[dict[str, Any]] = []
        self._holds = holds

    @property
    def root(self) -> SimpleNamespace:
        return SimpleNamespace(check=self._check)

    def _check(self, values: dict[str, Any]) -> bool:
        self.seen.append(values)
        return self._holds


def compiled(x: int) -> FrameType:
    """In place of what Dynamo made of a frame."""
    return sys._getframe()


def sampled(cost: GuardCost, calls: int = 1, frame: FrameType | None = None) -> dict[int, int]:
    words = {GUARD_NS: 0, GUARD_SAMPLES: 0}
    sample = cost.sampler(COMPILE)
    assert sample is not None
    for number in range(calls):
        sample(words, frame or compiled(number))
    return words


def test_the_guards_of_the_entry_are_evaluated_with_the_values_of_its_frame() -> None:
    cost, manager = GuardCost(), Manager()
    cost.add_entry(COMPILE, compiled.__code__, manager)
    assert sampled(cost, calls=8)[GUARD_SAMPLES] == len(manager.seen) == 4
    assert [values["x"] for values in manager.seen] == [0, 1, 3, 7]


def test_what_does_not_hold_or_is_another_functions_is_no_sample() -> None:
    cost, manager = GuardCost(), Manager(holds=False)
    cost.add_entry(COMPILE, compiled.__code__, manager)
    assert sampled(cost)[GUARD_SAMPLES] == 0
    assert len(manager.seen) == 1
    sampled(cost, frame=sys._getframe())
    assert len(manager.seen) == 1


def test_guards_that_are_gone_and_those_made_outside_of_a_compile_are_none() -> None:
    cost = GuardCost()
    cost.add_entry(COMPILE, compiled.__code__, Manager())  # which nothing else holds
    assert sampled(cost)[GUARD_SAMPLES] == 0
    manager = Manager()
    cost.add_entry({}, compiled.__code__, manager)
    assert cost.sampler({}) is None
    assert not manager.seen
