"""What `pytest --dynamo-lock` costs beyond the tests: 500 tests, each compiles a function of its own.

The bound is that of "a lock file of 500 tests checks within 1 s beyond the tests". It runs them once to write
the lock file, then measures, in the process of the tests, the CPU time of all that is done to check them:
reading the lock file, reading what each test recorded, comparing. Not in it are the tests themselves and what
recording adds to them; emptying torch's caches before each test is measured apart.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 500
BOUND_S = 1.0
_TEST = """
@torch.compile(backend="eager")
def function_{i}(x):
    y = x * {i}
    torch._dynamo.graph_break()
    return y.relu()


def test_{i}():
    function_{i}(torch.ones(3))
"""
_MEASURE = """
import time

import torch._dynamo

from dynamo_pytest import each_test

spent = dict.fromkeys(("checks", "resets", "start"), 0.0)


def timed(owner, name, what):
    original = getattr(owner, name)

    def measured(*arguments, **named):
        began = time.process_time()
        try:
            return original(*arguments, **named)
        finally:
            spent[what] += time.process_time() - began

    setattr(owner, name, measured)


timed(each_test.EachTest, "_check", "checks")
timed(each_test.Recorder, "begin", "checks")
timed(torch._dynamo, "reset", "resets")
timed(each_test, "look_at_tests", "start")


def pytest_terminal_summary(terminalreporter):
    checks = spent["checks"] - spent["resets"] + spent["start"]
    resets = f"{spent['resets']:.2f} s of emptying caches"
    terminalreporter.write_line(f"{checks:.2f} s of CPU time beyond the tests, and {resets}")
"""


def main() -> None:
    """Print the CPU time, and whether it is within the bound."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_many.py").write_text(
            "import torch\n" + "".join(_TEST.format(i=i) for i in range(TESTS))
        )
        Path(folder, "measure.py").write_text(_MEASURE)
        pytest = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--dynamo-lock",
            "dynamo.lock",
        ]
        subprocess.run([*pytest, "--dynamo-update"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [*pytest, "-p", "measure"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        )
    line = next(line for line in done.stdout.splitlines() if "beyond the tests" in line)
    is_within = float(line.split()[0]) <= BOUND_S
    print(f"{TESTS} tests: {line} (bound: {BOUND_S} s{'' if is_within else ', EXCEEDED'})")


if __name__ == "__main__":
    main()
