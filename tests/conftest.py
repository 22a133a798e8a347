"""How long each layer of the tests took, said at the end of a run."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up the seconds of all tests, with what they set up, by the folder below tests/."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.split("/")[1]] += report.duration
    if seconds:
        times = ", ".join(f"{layer} {spent:.0f} s" for layer, spent in sorted(seconds.items()))
        terminalreporter.write_line(f"time by layer, of all processes together: {times}")
