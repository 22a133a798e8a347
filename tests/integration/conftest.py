"""Run the real command; all tests share one Inductor cache.

`run` starts processes, as a user does: for what is about how one starts and ends. `forked` runs the same
command in copies of a Python that has imported torch, for which a test would wait longer than for all else.
"""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython, Runner, run_to_end
from recordings import Recordings
from support.answering import Result, answer


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of every command: ours, without what would change the outcome."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAMO_", "TORCH"))}
    # Beside the folders of the workers, which run at the same time and compile much the same.
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    cache = os.environ.get("DYNAMO_TEST_INDUCTOR_CACHE") or str(shared / "inductor")
    if sys.version_info[:3] == (3, 13, 0):  # of which torch warns
        kept["PYTHONWARNINGS"] = "ignore:Guards may run slower:RuntimeWarning"
    return kept | {
        "TORCHINDUCTOR_CACHE_DIR": cache,
        "OMP_NUM_THREADS": "1",  # else two programs at once wait for each other's threads
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # else each starts a pool of processes that import torch
        "TORCHINDUCTOR_VEC_ISA_OK": "1",  # else each new cache begins with trying the processor
        "HF_HUB_OFFLINE": "1",
        "NO_COLOR": "1",
    }


@pytest.fixture(scope="session")
def recordings(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Recordings that several tests read."""
    return Recordings(tmp_path_factory.mktemp("recordings"), python)


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Runner:
    """`run("run", "x.py", env={...})` runs `dynamo run x.py` in the test's own folder."""

    def run_command(*arguments: str | Path, env: Mapping[str, str] | None = None, stdin: str = "") -> Result:
        return run_to_end(
            [sys.executable, "-m", "dynamo_cli", *map(str, arguments)],
            environment | dict(env or {}),
            tmp_path,
            stdin,
        )

    return run_command


@pytest.fixture(scope="session")
def python(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkingPython]:
    """A Python that has imported torch; it starts when it is first asked for something."""
    forking = ForkingPython(environment, tmp_path_factory.mktemp("forking_python"))
    yield forking
    forking.end()


@pytest.fixture
def forked(python: ForkingPython, tmp_path: Path) -> Runner:
    """Like `run`, in copies of a Python that has imported torch."""

    def run_command(*arguments: str | Path, env: Mapping[str, str] | None = None, stdin: str = "") -> Result:
        return python.run("-m", "dynamo_cli", *arguments, cwd=tmp_path, more=env, stdin=stdin)

    return run_command


@pytest.fixture
def read(tmp_path: Path) -> Runner:
    """Like `run`, for commands that only read: in this process, so in milliseconds."""
    return functools.partial(answer, cwd=tmp_path)


@pytest.fixture
def explained(forked: Runner) -> Callable[..., dict[str, Any]]:
    """Run a program under `dynamo explain` and give the JSON document."""

    def explain(*arguments: str | Path, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        result = forked("explain", "--format", "json", *arguments, env=env)
        assert result.exit_code == 0, result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    return explain
