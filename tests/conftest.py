"""What holds for all tests: how Inductor compiles, and at the end of a run, how long each layer took."""

import os
from collections import Counter

import pytest

_FILES_SHOWN = 12
# Else each program starts a pool of processes that import torch, and tries the processor for each new cache.
os.environ |= {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_VEC_ISA_OK": "1"}


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
