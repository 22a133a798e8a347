"""Looks at what each test compiles: the test function alone, not its fixtures, from when it begins.

Fixtures of a module or a session belong to the first test that asks for them, whichever that is in this run;
what they compile says nothing of a test.
"""

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dynamo_core.lock.bounds import ProjectBounds
from dynamo_core.lock.comparison import Checked
from dynamo_core.lock.facts import Facts, facts_and_findings, facts_of

from .expectation import Expectation, expectation_of
from .failure import CompiledWorse, representation
from .outcome import Outcome
from .recorder import NotRecorded, Recorder

_NAME = pytest.StashKey[str]()
_EXPECTED = pytest.StashKey[Expectation]()
_OUTCOME = pytest.StashKey[Outcome]()


class EachTest:
    """The hooks that run in the process of the tests.

    `locked` is None where no lock file is compared. With `looks_at_all`, tests without a marker are looked at
    too; with `is_exact`, one that is better than what is locked fails.
    """

    def __init__(
        self,
        recorder: Recorder,
        of_project: ProjectBounds,
        locked: dict[str, Facts] | None,
        *,
        looks_at_all: bool,
        is_exact: bool,
    ) -> None:
        self._recorder = recorder
        self._of_project = of_project
        self._locked = locked
        self._looks_at_all = looks_at_all
        self._is_exact = is_exact

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, Any]:
        """Before xdist adds the name of a group to the names of its tests."""
        for item in items:
            item.stash[_NAME] = item.nodeid
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Whether the test is looked at; an error in its marker is an error of the test."""
        of_project = self._of_project.of(_name_of(item))
        marks = list(item.iter_markers("dynamo"))
        has_fixture = "dynamo" in getattr(item, "fixturenames", ())
        if not (marks or has_fixture or of_project or self._looks_at_all):
            return
        problem = None
        try:
            item.stash[_EXPECTED] = expectation_of(reversed(marks), of_project)
        except ValueError as error:
            problem = str(error)
        if problem is not None:
            pytest.fail(problem, pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """The test itself; one that passes fails where it compiled worse than is expected."""
        expected = item.stash.get(_EXPECTED, None)
        if expected is None:
            return (yield)
        self._recorder.begin(reset=expected.reset)
        result = yield
        with _without_collecting():
            self._check(item, expected)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The report takes along what was found, to the process that keeps the lock file."""
        report = yield
        outcome = item.stash.get(_OUTCOME, None)
        if call.when == "call" and outcome is not None:
            outcome.put_in(report)
        if call.excinfo is not None and isinstance(call.excinfo.value, CompiledWorse) and report.failed:
            file, line, _ = report.location
            report.longrepr = representation(call.excinfo.value, (file, (line or 0) + 1))
        return report

    def _check(self, item: pytest.Item, expected: Expectation) -> None:
        if expected == Expectation() and not self._looks_at_all:
            return  # the test only has the fixture, and asks for itself
        name = _name_of(item)
        try:
            recording = self._recorder.so_far()
        except NotRecorded as error:
            raise CompiledWorse([(f"what the test compiled is not known: {error}", None)], {}) from None
        facts = facts_of(recording)
        locked = self._locked.get(name) if self._locked is not None else None
        checked = expected.check(name, facts, locked)
        better = [each.text for each in checked.better]
        item.stash[_OUTCOME] = Outcome(name, facts, self._locked is None or locked is not None, better)
        if not self._amiss(checked):
            return
        facts, findings = facts_and_findings(recording)  # what a test that passes does not pay for
        amiss = self._amiss(expected.check(name, facts, locked))
        has_too_many = any(text.startswith("graphs:") for text, _ in amiss)
        graphs = [graph for process in recording.processes for graph in process.compiled_graphs]
        raise CompiledWorse(amiss, findings, graphs if has_too_many else ())

    def _amiss(self, checked: Checked) -> list[tuple[str, str | None]]:
        """Why the test fails: sentences, each with the identity of its finding, where it is one."""
        amiss: list[tuple[str, str | None]] = [(each.text, each.identity) for each in checked.worse]
        amiss += [(f"{count}: not recorded, so not compared", None) for count in checked.not_comparable]
        if self._is_exact:
            amiss += [(f"better than locked, {each.text}", None) for each in checked.better]
        return amiss


@contextmanager
def _without_collecting() -> Iterator[None]:
    """What is read is plain data, and goes by itself; to look through all of torch's objects costs more."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _name_of(item: pytest.Item) -> str:
    return item.stash.get(_NAME, item.nodeid)
