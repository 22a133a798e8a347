"""Keeps the lock file of the tests, in one process however many run them, and says what is not as locked."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from dynamo_core.compare.lock_file import Facts, read_lock, write_lock
from dynamo_core.shared.errors import LockFileProblem, NothingToCompare

from .outcome import Outcome, outcome_in

_MOST_NAMES = 10


class LockReport:
    """Collects what was found of the tests; writes the lock file, or says what is missing in it."""

    def __init__(
        self, file: Path, locked: dict[str, Facts], *, is_update: bool, is_exact: bool = False
    ) -> None:
        self._file = file
        self._locked = locked
        self._is_update = is_update
        self._is_exact = is_exact
        self._passed: dict[str, Outcome] = {}
        self._failed: set[str] = set()
        self._collected: set[str] = set()
        self._is_whole = True
        self._problem: str | None = None
        self._written = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The tests that there are."""
        self._collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """With pytest-xdist: the tests that a worker has collected."""
        self._collected.update(ids)

    def pytest_deselected(self) -> None:
        """There are more than those that run."""
        self._is_whole = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What was found of a test counts if it passed, its teardown included, which comes later."""
        outcome = outcome_in(report)
        if outcome is not None and report.passed:
            self._passed[report.nodeid] = outcome
        elif report.failed:
            self._failed.add(report.nodeid)
            self._passed.pop(report.nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the lock file; with --dynamo-exact, fail where a test is not in it and all else passed."""
        if self._is_update:
            try:
                self._update()
            except LockFileProblem as problem:
                self._problem = str(problem)
                session.exitstatus = LockFileProblem.exit_code
        elif self._is_exact and self._not_locked() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = NothingToCompare.exit_code

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A line for each thing that is not as locked; none where all is."""
        for line in self._lines(terminalreporter.config):
            terminalreporter.write_line(f"dynamo: {line}")

    def _update(self) -> None:
        """Entries of tests that did not run, or did not pass, stay as they are."""
        locked = read_lock(self._file)  # another run may have written to it meanwhile
        updated = dict(locked)
        for outcome in self._passed.values():
            if outcome.facts.is_empty:
                updated.pop(outcome.test, None)
            else:
                updated[outcome.test] = outcome.facts
        if updated != locked or not self._file.exists():
            write_lock(self._file, updated)
        self._written = _changes(locked, updated)

    def _not_locked(self) -> list[str]:
        return [
            outcome.test
            for outcome in self._passed.values()
            if not outcome.is_known and not outcome.facts.is_empty
        ]

    def _lines(self, config: pytest.Config) -> Iterable[str]:
        name = self._file.name
        if self._problem is not None:
            yield self._problem
        elif self._is_update:
            left = f"; {len(self._failed)} failed and are as they were" if self._failed else ""
            yield f"{name}: {self._written}{left}"
        else:
            better = [outcome.test for outcome in self._passed.values() if outcome.better]
            if better:
                yield (
                    f"better than {name} (--dynamo-update locks that; what varies from run to run is for "
                    f"`allow` in a test's mark): {_some(better)}"
                )
            if missing := self._not_locked():
                yield f"not in {name}, to which --dynamo-update adds them: {_some(missing)}"
        if unknown := self._unknown(config):
            yield f"in {name}, and no tests (if they are gone, delete their tables): {_some(unknown)}"

    def _unknown(self, config: pytest.Config) -> list[str]:
        """What the lock file has of tests that are not there, as far as this run has looked."""
        is_narrowed = (
            not self._is_whole
            or any("::" in argument for argument in config.args)
            or any(getattr(config.option, name, None) for name in ("keyword", "markexpr", "lf", "deselect"))
        )
        files = set() if is_narrowed else {test.partition("::")[0] for test in self._collected}
        return [
            test
            for test in sorted(self._locked)
            if "::" in test and test not in self._collected
            if (file := test.partition("::")[0]) in files or not (config.rootpath / file).exists()
        ]


def _changes(before: dict[str, Facts], after: dict[str, Facts]) -> str:
    new, gone = len(set(after) - set(before)), len(set(before) - set(after))
    changed = sum(before[test] != after[test] for test in set(before) & set(after))
    parts = ((new, "new"), (changed, "changed"), (gone, "that compile nothing any more taken out"))
    text = ", ".join(f"{count} {what}" for count, what in parts if count)
    return text or "nothing to change"


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
