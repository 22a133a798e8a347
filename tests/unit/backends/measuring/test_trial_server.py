"""Until when a program may run: waiting for a processor is no hang."""

import os
import time

import pytest

from dynamo_core.backends.measuring import trial_server

_LIMIT = 0.25  # seconds: four of them are enough for a busy machine to end a sleep of two


def status_of_a_sleep(seconds: float) -> int | None:
    child = os.fork()
    if child == 0:
        time.sleep(seconds)
        os._exit(0)
    return trial_server._waited_for(child, _LIMIT)


def delayed_by(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_server, "_seconds_delayed", lambda process: seconds)


def test_what_sleeps_is_ended_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed_by(0.0, monkeypatch)
    assert status_of_a_sleep(60.0) is None


def test_what_waited_for_a_processor_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed_by(60.0, monkeypatch)
    assert status_of_a_sleep(2 * _LIMIT) == 0


def test_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed_by(60.0, monkeypatch)
    assert status_of_a_sleep(60.0) is None


def test_the_systems_figure_is_read() -> None:
    assert 0.0 <= trial_server._seconds_delayed(os.getpid()) < time.monotonic()
    assert trial_server._seconds_delayed(2**22 + 1) == 0.0
