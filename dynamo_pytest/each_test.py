"""Looks at what each test compiles: the test function alone, not its fixtures, from when it begins.

Fixtures of a module or a session belong to the first test that asks for them, whichever that is in this run;
what they compile says nothing of a test.
"""

import atexit
import gc
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.capture.in_process import InProcessEngine
from dynamo_core.compare.lock import (
    Bounds,
    Checked,
    Difference,
    ProjectBounds,
    bounds_of_project,
    check,
    findings_not_allowed,
    merge_bounds,
)
from dynamo_core.compare.lock_file import DEFAULT_FILE, Facts, facts_and_findings, facts_of, read_lock
from dynamo_core.model import Recording
from dynamo_core.recording.parts import StreamParts
from dynamo_core.shared.errors import LockFileProblem
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.settings import VERIFY_REPORT

from .lock_report import LockReport
from .outcome import BETTER, Compiled, CompiledWorse, Outcome, representation
from .verify_report import VerifyReport, compared_calls

# What is expected of a test: what its markers and pyproject.toml say, and what of that does not hold.


_MOST: Mapping[str, str] = {
    "max_breaks": "graph-breaks",
    "max_recompiles": "recompiles",
    "max_graphs": "graphs",
    "max_frames_run_eager": "frames-run-eager",
}
_KNOWN = (*_MOST, "fullgraph", "allow", "reset")


@dataclass(frozen=True)
class Expectation:
    """`fullgraph` asks for a graph, and for no break in it; `reset` that the test finds nothing compiled."""

    bounds: Bounds | None = None
    fullgraph: bool = False
    reset: bool = True

    def check(self, test: str, now: Facts, locked: Facts | None, *, verifies: bool = False) -> Checked:
        """What a test compiled, beside this and beside what is locked, if anything is.

        With `verifies`, a wrong result is worse, also where it is locked.
        """
        checked = check(test, now, locked, self.bounds)
        if verifies:
            known = {each.identity for each in checked.worse}
            wrong = findings_not_allowed("wrong result", now, self.bounds)
            new = tuple(each for each in wrong if each.identity not in known)
            checked = replace(checked, differences=(*new, *checked.differences))
        if self.fullgraph and now.counts["graphs"] == 0:
            missing = Difference("worse", "fullgraph: no graph was compiled")
            checked = replace(checked, differences=(missing, *checked.differences))
        return checked


def expectation_of(marks: Iterable[pytest.Mark], of_project: Bounds | None) -> Expectation:
    """What markers say, the farthest first, and before them the project; ValueError for what is not known."""
    expected = Expectation(of_project)
    for mark in marks:
        expected = _with_mark(expected, mark)
    return expected


def _with_mark(expected: Expectation, mark: pytest.Mark) -> Expectation:
    if mark.args:
        raise ValueError(f"@pytest.mark.dynamo takes keywords only, not {mark.args[0]!r}")
    by_name: dict[str, Any] = dict(mark.kwargs)
    unknown = sorted(set(by_name) - set(_KNOWN))
    if unknown:
        raise ValueError(
            f"@pytest.mark.dynamo has {unknown[0]!r}, which is not known; known are {', '.join(_KNOWN)}"
        )
    for name in ("fullgraph", "reset"):
        if type(by_name.get(name, True)) is not bool:
            raise ValueError(f"@pytest.mark.dynamo: {name} is neither True nor False")
    allowed = by_name.get("allow", ())
    if isinstance(allowed, str) or not all(isinstance(each, str) for each in allowed):
        raise ValueError("@pytest.mark.dynamo: allow is not a list of identities")
    fullgraph = by_name.get("fullgraph", expected.fullgraph)
    most = dict.fromkeys(("graph-breaks", "frames-run-eager"), 0) if by_name.get("fullgraph") else {}
    for name, count in _MOST.items():
        if name in by_name:
            most[count] = by_name[name]
            if type(by_name[name]) is not int or by_name[name] < 0:
                raise ValueError(f"@pytest.mark.dynamo: {name} is not a number from 0")
    bounds = merge_bounds(expected.bounds, Bounds(most, frozenset(allowed)))
    return Expectation(bounds, fullgraph, by_name.get("reset", expected.reset))


# Records the process of the tests, and reads what one test has left in the recording.


_SWITCHES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")


class NotRecorded(Exception):
    """What a test compiled cannot be known; says why."""


class Recorder:
    """The recording of this process. One test at a time is looked at: from `begin` on.

    With `verifies`, what is compiled is compared with plain Python.
    """

    def __init__(self, engine: InProcessEngine, *, verifies: bool) -> None:
        self._engine = engine
        self.verifies = verifies
        self._streams: dict[str, StreamParts] = {}
        self._began = engine.position()
        self._is_reset_at = self._began
        self.compiled = Compiled(self.so_far)

    def begin(self, *, reset: bool) -> None:
        """A test begins. With `reset`, nothing is compiled that was compiled before it.

        torch's caches are left alone where nothing was compiled since they were emptied: other tests go on
        with what they compiled as long as can be.
        """
        if reset and self._engine.position() != self._is_reset_at:
            dynamo = sys.modules.get("torch._dynamo")
            if dynamo is not None:
                dynamo.reset()
        if self.verifies:
            self._engine.compare_first_calls_again()
        self._began = self._engine.position()
        if reset:
            self._is_reset_at = self._began

    def end(self) -> None:
        """A test ends; NotRecorded where its results were to be compared and could not be."""
        if self.verifies and not self._engine.finish_comparing():
            raise NotRecorded("this process is recorded by `dynamo run`; give that --verify")

    def so_far(self, contents: Container[str] = frozenset()) -> Recording:
        """What was recorded since the test began; NotRecorded where that cannot be known."""
        failure = self._engine.failure()
        if failure is not None:
            raise NotRecorded(f"dynamo's engine could not start: {failure}")
        began, now = self._began, self._engine.position()
        if now.offset is None:
            raise NotRecorded(f"{now.path or 'its recording'} is not there")
        is_same_file = now.path == began.path  # it is not in the first test, nor in a forked process
        if now.lost_records > (began.lost_records if is_same_file else 0):
            raise NotRecorded("records could not be written: is the disk full?")
        if now == began:
            return Recording(Path(now.path), None, [], python_processes=1, engine_failures=[])
        if now.path not in self._streams:
            self._streams[now.path] = StreamParts(Path(now.path))
        parts = self._streams[now.path]
        begin = began.offset if is_same_file else None
        try:
            return parts.recording(begin or 0, now.offset, contents)
        except OSError as error:
            raise NotRecorded(f"cannot read {now.path}: {error.strerror}") from error


def recorder_of_this_process(*, verifies: bool) -> Recorder:
    """Begin to record this process, to a folder that goes when it ends."""
    for switch in _SWITCHES:
        if os.environ.get(switch) == "1":
            raise pytest.UsageError(f"--dynamo: {switch}=1 switches torch.compile off; unset it")
    try:
        folder = Path(tempfile.mkdtemp(prefix="dynamo_pytest_"))
    except OSError as error:
        raise pytest.UsageError(f"--dynamo: cannot record to {tempfile.gettempdir()}: {error}") from error
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)  # before the engine's own, which comes first then: it writes its last record
    engine = InProcessEngine(folder, verify=VERIFY_REPORT if verifies else None)
    return Recorder(engine, verifies=verifies)


# Keeps torch's structured trace, which is no log, out of what pytest captures of the program's.
#
# Source: _pytest/logging.py (LoggingPlugin, catching_logs), pytest 8 and 9; 9.2 also captures loggers that do
# not propagate.


_CAPTURING = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")


def keep_trace_from(logging_plugin: object) -> None:
    """Keep torch's trace out of `caplog` and of the sections of captured logs."""
    for name in _CAPTURING:
        handler = getattr(logging_plugin, name, None)
        if isinstance(handler, logging.Handler):
            handler.addFilter(lambda record: record.name != "torch.__trace")


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

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """pytest's plugin for logging is registered after all others are configured."""
        keep_trace_from(session.config.pluginmanager.get_plugin("logging-plugin"))

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
            self._recorder.end()
            recording = self._recorder.so_far()
        except NotRecorded as error:
            raise CompiledWorse([(f"what the test compiled is not known: {error}", None)], {}) from None
        facts = facts_of(recording)
        locked = self._locked.get(name) if self._locked is not None else None
        verifies = self._recorder.verifies
        checked = expected.check(name, facts, locked, verifies=verifies)
        better = [each.text for each in checked.better]
        is_known = self._locked is None or locked is not None
        compared = compared_calls(recording) if verifies else {}
        item.stash[_OUTCOME] = Outcome(name, facts, is_known, better, compared)
        if not self._amiss(checked):
            return
        facts, findings = facts_and_findings(recording)  # what a test that passes does not pay for
        amiss = self._amiss(expected.check(name, facts, locked, verifies=verifies))
        has_too_many = any(text.startswith("graphs:") for text, _ in amiss)
        graphs = [graph for process in recording.processes for graph in process.compiled_graphs]
        raise CompiledWorse(amiss, findings, graphs if has_too_many else ())

    def _amiss(self, checked: Checked) -> list[tuple[str, str | None]]:
        """Why the test fails: sentences, each with the identity of its finding, where it is one."""
        amiss: list[tuple[str, str | None]] = [(each.text, each.identity) for each in checked.worse]
        amiss += [(f"{count}: not recorded, so not compared", None) for count in checked.not_comparable]
        if self._is_exact:
            better = (f"{BETTER}, {each.text}; --dynamo-update locks that" for each in checked.better)
            amiss += [(text, None) for text in better]
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


# What --dynamo adds to a session: reads what is expected, and lets each test be looked at.


def look_at_tests(config: pytest.Config, recorder: Recorder) -> None:
    """Register what looks at each test and, but in a worker of xdist, what keeps the lock file."""
    options = config.option
    file = _lock_file(config)
    locked: dict[str, Facts] | None = None
    try:
        of_project = bounds_of_project(config.rootpath)
        if file is not None:
            if not file.exists() and not options.dynamo_update:
                raise pytest.UsageError(f"no such lock file: {file}; --dynamo-update writes it")
            locked = read_lock(file)
    except LockFileProblem as problem:
        raise pytest.UsageError(str(problem)) from problem
    each_test = EachTest(
        recorder,
        of_project,
        None if options.dynamo_update else locked,
        looks_at_all=file is not None or recorder.verifies,
        is_exact=options.dynamo_exact,
    )
    config.pluginmanager.register(each_test, "dynamo_each_test")
    if hasattr(config, "workerinput"):
        return
    if recorder.verifies:
        config.pluginmanager.register(VerifyReport(), "dynamo_verify_report")
    if file is not None and locked is not None:
        report = LockReport(file, locked, is_update=options.dynamo_update, is_exact=options.dynamo_exact)
        config.pluginmanager.register(report, "dynamo_lock_report")


def _lock_file(config: pytest.Config) -> Path | None:
    if config.option.dynamo_lock:
        return config.invocation_params.dir / str(config.option.dynamo_lock)
    if config.option.dynamo_update or config.option.dynamo_exact:
        return config.rootpath / DEFAULT_FILE
    return None
