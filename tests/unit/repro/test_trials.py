"""Trials that need several attempts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.repro.failure import Failure
from dynamo_core.repro.trials import Candidate, Trials, _read_state

PASSED: dict[str, Any] = {"ending": "passed", "output": "", "seconds": 1.0}
RAISED = PASSED | {"ending": "raised", "type": "RuntimeError", "message": "the device is busy"}
FAILURE = Failure("exception", "RuntimeError", "the device is busy")
CANDIDATE = Candidate("compiled", "plain", "1 line")


class Answers(Trials):
    """Trials whose attempts end as they are told to, in place of processes."""

    def outcome(self, text: str, *, plain: bool = False, attempt: int = 0) -> dict[str, Any]:
        """Plain Python passes; the third attempt raises."""
        return RAISED if attempt == 2 and not plain else PASSED


@pytest.fixture
def trials() -> Iterator[Answers]:
    yield Answers("python", (), 1.0, 0.0)


def test_one_attempt_does_not_show_it(trials: Answers) -> None:
    assert trials.failures(CANDIDATE) == []


def test_one_of_several_attempts_shows_it(trials: Answers) -> None:
    trials.attempts = 3
    (found,) = trials.failures(CANDIDATE)
    assert found.is_same(FAILURE)


def test_what_was_tried_is_kept_for_a_search_that_goes_on(tmp_path: Path) -> None:
    first = Trials("python", (), 1.0, 0.0, state=tmp_path / "state")
    first._store("of one text", PASSED)
    first._store("of another", RAISED)
    assert _read_state(tmp_path / "state") == {"of one text": PASSED, "of another": RAISED}
    Trials("python", (), 1.0, 0.0)._store("kept nowhere", PASSED)
