"""The lock file of `pytest --dynamo-lock` and `--dynamo-update`, by the hooks that pytest calls."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.compare.lock_file import Facts, read_lock, write_lock
from dynamo_core.findings.matching import KnownFinding
from dynamo_pytest.lock_report import LockReport
from dynamo_pytest.outcome import Outcome, outcome_in

FOUND = KnownFinding("graph-break-1", "graph break", "model.py", "forward", "if x.sum() > 0:")
GRAPH = Facts({"graphs": 1, "graph-breaks": 0, "recompiles": 0, "frames-run-eager": 0})
BROKEN = Facts({**GRAPH.counts, "graphs": 2, "graph-breaks": 1}, {FOUND.identity: FOUND})
NOTHING = Facts(dict.fromkeys(GRAPH.counts, 0))
LOCKED = {"t.py::test_a": GRAPH, "t.py::test_b": GRAPH, "-m pytest t.py": BROKEN}


def report_of(test: str, facts: Facts, outcome: str = "passed", **about: Any) -> Any:
    """The report of a test, as xdist sends it."""
    report = pytest.TestReport(test, ("t.py", 0, test), {}, outcome, None, "call")  # type: ignore[arg-type]
    Outcome(test, facts, about.get("is_known", True), about.get("better", [])).put_in(report)
    return pytest.TestReport._from_json(report._to_json())


class Session:
    """A session of pytest, as far as the lock file is concerned."""

    def __init__(
        self,
        file: Path,
        *,
        is_update: bool = False,
        is_exact: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.exitstatus = 0
        self.report = LockReport(file, read_lock(file), is_update=is_update, is_exact=is_exact)
        self.config = SimpleNamespace(
            args=["."], option=SimpleNamespace(**(options or {})), rootpath=file.parent
        )

    def run(self, *reports: Any, collected: tuple[str, ...] = ()) -> list[str]:
        """What is said at the end."""
        self.report.pytest_xdist_node_collection_finished(list(collected))
        for each in reports:
            self.report.pytest_runtest_logreport(each)
        self.report.pytest_sessionfinish(self)  # type: ignore[arg-type]
        lines: list[str] = []
        self.report.pytest_terminal_summary(
            SimpleNamespace(config=self.config, write_line=lines.append)  # type: ignore[arg-type]
        )
        return lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A lock file with two tests, and with a program of `dynamo check`."""
    (tmp_path / "t.py").touch()
    write_lock(tmp_path / "dynamo.lock", LOCKED)
    return tmp_path / "dynamo.lock"


def test_an_outcome_goes_through_xdist() -> None:
    outcome = outcome_in(report_of("t.py::test_a", BROKEN, better=["graphs: 3 → 2"]))
    assert outcome == Outcome("t.py::test_a", BROKEN, True, ["graphs: 3 → 2"])


def test_update_replaces_what_passed_and_keeps_all_else(file: Path) -> None:
    lines = Session(file, is_update=True).run(
        report_of("t.py::test_a", BROKEN),
        report_of("t.py::test_b", BROKEN, outcome="failed"),
        report_of("t.py::test_new", GRAPH),
        report_of("t.py::test_eager", NOTHING),
    )
    assert lines == ["dynamo: dynamo.lock: 1 new, 1 changed; 1 failed and are as they were"]
    assert read_lock(file) == LOCKED | {"t.py::test_a": BROKEN, "t.py::test_new": GRAPH}


def test_update_takes_out_what_compiles_nothing_any_more(file: Path) -> None:
    session = Session(file, is_update=True)
    assert session.run(report_of("t.py::test_a", NOTHING)) == [
        "dynamo: dynamo.lock: 1 that compile nothing any more taken out"
    ]
    assert set(read_lock(file)) == set(LOCKED) - {"t.py::test_a"}


def test_update_keeps_what_another_run_has_written_meanwhile(file: Path) -> None:
    session = Session(file, is_update=True)
    write_lock(file, LOCKED | {"u.py::test_x": BROKEN})
    session.run(report_of("t.py::test_a", BROKEN))
    assert set(read_lock(file)) == {*LOCKED, "u.py::test_x"}


def test_update_where_nothing_changed_leaves_the_file_alone(file: Path) -> None:
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert Session(file, is_update=True).run(report_of("t.py::test_a", GRAPH)) == [
        "dynamo: dynamo.lock: nothing to change"
    ]
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before


def test_a_lock_file_damaged_meanwhile_is_left_as_it_is(file: Path) -> None:
    session = Session(file, is_update=True)
    file.write_text("version = 1\n<<<<<<< ours\n")
    (line,) = session.run(report_of("t.py::test_a", GRAPH))
    assert "a merge is not resolved" in line
    assert (session.exitstatus, file.read_text()) == (109, "version = 1\n<<<<<<< ours\n")


@pytest.mark.parametrize(("is_exact", "ended", "ends"), [(False, 0, 0), (True, 0, 110), (True, 1, 1)])
def test_a_test_that_is_not_locked_is_said_and_fails_only_with_exact(
    is_exact: bool, ended: int, ends: int, file: Path
) -> None:
    session = Session(file, is_exact=is_exact)
    session.exitstatus = ended
    new = report_of("t.py::test_new", GRAPH, is_known=False)
    lines = session.run(new, report_of("t.py::test_eager", NOTHING, is_known=False))
    assert lines == ["dynamo: not in dynamo.lock, to which --dynamo-update adds them: t.py::test_new"]
    assert session.exitstatus == ends


def test_better_is_said(file: Path) -> None:
    session = Session(file)
    lines = session.run(report_of("t.py::test_a", GRAPH, better=["graphs: 2 → 1"]))
    assert lines == [
        "dynamo: better than dynamo.lock (--dynamo-update locks that; what varies from run to run "
        "is for `allow` in a test's mark): t.py::test_a"
    ]
    assert session.exitstatus == 0


@pytest.mark.parametrize(
    ("options", "arguments", "unknown"),
    [
        ({}, ["."], "t.py::test_b"),
        ({"keyword": "test_a"}, ["."], None),
        ({}, ["t.py::test_a"], None),
    ],
)
def test_names_of_no_tests_are_said_where_all_were_looked_at(
    options: dict[str, str], arguments: list[str], unknown: str | None, file: Path
) -> None:
    session = Session(file, options=options)
    session.config.args = arguments
    lines = session.run(report_of("t.py::test_a", GRAPH), collected=("t.py::test_a",))
    said = "dynamo: in dynamo.lock, and no tests (if they are gone, delete their tables): "
    assert lines == ([said + unknown] if unknown else [])


def test_names_of_files_that_are_gone_are_said_in_any_case(file: Path) -> None:
    (file.parent / "t.py").unlink()
    (line,) = Session(file, options={"keyword": "x"}).run()
    assert line.endswith(": t.py::test_a, t.py::test_b")
