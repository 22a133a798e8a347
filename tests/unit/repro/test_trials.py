"""Trials that need several attempts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.repro.failure import OUTPUT, Failure
from dynamo_core.repro.trials import BudgetSpent, Candidate, Trials, _read_state

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


def test_trials_end_while_there_is_time_for_the_last_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later on no less is kept than at first: what is found late is run alone before the deadline, too."""
    now = [100.0]
    monkeypatch.setattr("dynamo_core.repro.trials.time.monotonic", lambda: now[0])
    trials = Trials("python", (), 1.0, 160.0, about={"torch": "2.13"}, started=3.0, longest=2.0)
    trials._known, trials._from_before = {}, frozenset()
    assert trials.kept == 0.0
    trials.keep(4, 5.0)
    assert trials.kept == 5.0 + 4 * (3.0 + 2.0)
    now[0] = 136.0
    with pytest.raises(BudgetSpent):
        trials.outcome("text")
    trials.longest = 60.0
    assert trials.kept == 30.0, "half of what was left at first"
    trials.keep(4, 5.0)
    assert trials.kept == 30.0


class Prints(Trials):
    """Trials of programs of which plain Python prints the first text, then the second."""

    printed = ("1.0", "1.0")

    def outcome(self, text: str, *, plain: bool = False, attempt: int = 0) -> dict[str, Any]:
        """Compiled, it prints another number than in plain Python."""
        return PASSED | {"output": self.printed[attempt] if plain else "3.0"}


@pytest.mark.parametrize(("printed", "found"), [(("1.0", "1.0"), 0), (("1.0", "2.0"), None)])
def test_another_output_counts_where_plain_python_prints_the_same_again(
    printed: tuple[str, str], found: int | None
) -> None:
    trials = Prints("python", (), 1.0, 0.0)
    trials.workers, trials._threads, trials.printed = 1, ThreadPoolExecutor(1), printed
    assert trials.first([CANDIDATE], Failure("wrong result", OUTPUT, "", "")) == found
    assert trials.done[0].fails is (found is not None)


def test_what_was_tried_is_kept_for_a_search_that_goes_on(tmp_path: Path) -> None:
    first = Trials("python", (), 1.0, 0.0, state=tmp_path / "state")
    first._store("of one text", PASSED)
    first._store("of another", RAISED)
    assert _read_state(tmp_path / "state") == {"of one text": PASSED, "of another": RAISED}
    Trials("python", (), 1.0, 0.0)._store("kept nowhere", PASSED)
