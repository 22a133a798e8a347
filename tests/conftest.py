"""How long each layer of the tests took, and the costliest files, said at the end of a run."""

from collections import Counter

import pytest

_FILES_SHOWN = 12


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up the seconds of all tests, with what they set up, by the folder below tests/ and by file."""
    layers: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                path = report.nodeid.partition("::")[0]
                layers[path.split("/")[1]] += report.duration
                files[path.rpartition("/")[2]] += report.duration
    if layers:
        terminalreporter.write_line(f"seconds by layer, of all processes together: {_listed(layers, None)}")
        terminalreporter.write_line(f"of the costliest files: {_listed(files, _FILES_SHOWN)}")


def _listed(seconds: Counter[str], shown: int | None) -> str:
    return ", ".join(f"{name} {spent:.0f}" for name, spent in seconds.most_common(shown))
