"""Copies of the process, and what they go by."""

import os
import re
import sys
import threading
import warnings

import pytest

from dynamo_core.capture import forking


def test_filters_of_warnings_are_left_alone_where_they_ignore_the_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warnings, "catch_warnings", pytest.fail)
    monkeypatch.setattr(sys, "version_info", (3, 12))
    monkeypatch.setattr(os, "fork", lambda: 7)
    default = [("default", None, DeprecationWarning, re.compile("__main__"), 0)]
    monkeypatch.setattr(warnings, "filters", [*default, ("ignore", None, DeprecationWarning, None, 0)])
    assert forking.fork() == 7


@pytest.mark.parametrize("action", ["error", "default", "always"])
def test_a_warning_that_the_program_wants_to_see_is_kept_from_it(
    action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12))

    def fork() -> int:
        warnings.warn("This process is multi-threaded", DeprecationWarning, stacklevel=2)
        return 7

    monkeypatch.setattr(os, "fork", fork)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        assert forking.fork() == 7
    assert not shown


def test_the_thread_that_watches_progress_bars_changes_no_values() -> None:
    tqdm = pytest.importorskip("tqdm")
    monitor = tqdm.tqdm.monitor or tqdm.TMonitor(tqdm.tqdm, 10)
    assert monitor.is_alive()
    assert not forking.has_other_threads()
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    assert forking.has_other_threads()
    end.set()
    other.join()
