"""The last line of --dynamo-verify, from what came of the calls of each test."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dynamo_core.compare.lock_file import Facts
from dynamo_pytest.outcome import Outcome
from dynamo_pytest.verify_report import VerifyReport


def report_of(*tests: Mapping[str, int]) -> VerifyReport:
    report = VerifyReport()
    for number, compared in enumerate(tests):
        of_test: Any = SimpleNamespace()
        Outcome(f"test_{number}", Facts({}), True, [], compared).put_in(of_test)
        report.pytest_runtest_logreport(of_test)
    report.pytest_runtest_logreport(cast(pytest.TestReport, SimpleNamespace()))  # of a test not looked at
    return report


def line_of(report: VerifyReport) -> str:
    lines: list[str] = []
    report.pytest_terminal_summary(cast(Any, SimpleNamespace(write_line=lines.append)))
    (line,) = lines
    return line


def exit_status(report: VerifyReport, status: pytest.ExitCode) -> int:
    session: Any = SimpleNamespace(exitstatus=status)
    report.pytest_sessionfinish(session)
    return int(session.exitstatus)


def test_calls_of_all_tests_are_added_up() -> None:
    report = report_of({"agrees": 2, "wrong": 1}, {"agrees": 3, "a hook is set": 1}, {"a hook is set": 4})
    assert line_of(report) == (
        "dynamo: 6 calls compared with plain Python, 1 wrong; not compared: 5 calls: a hook is set"
    )
    assert exit_status(report, pytest.ExitCode.OK) == 0


def test_nothing_compared_is_not_passed() -> None:
    report = report_of({"it took too long": 1}, {})
    assert line_of(report) == (
        "dynamo: no call of what is compiled was compared with plain Python; "
        "not compared: 1 call: it took too long"
    )
    assert exit_status(report, pytest.ExitCode.OK) == 115
    assert exit_status(report, pytest.ExitCode.TESTS_FAILED) == 1
