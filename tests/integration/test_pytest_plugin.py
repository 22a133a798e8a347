"""`pytest --dynamo` as a project uses it: the tests of docs/pytest.md, and some that got worse."""

import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from launching import run_to_end
from recordings import REPOSITORY
from support.answering import Result
from support.cases import nightly

DOCUMENTED = (REPOSITORY / "docs" / "pytest.md").read_text(encoding="utf-8")
Run = Callable[..., Result]
TESTS = """
import glob
import os
import pytest
import shutil
import torch
import unittest

@torch.compile(backend="eager")
def shared(x):
    return x.relu()

@pytest.fixture(scope="module")
def warm():
    shared(torch.ones(3))
    return shared

@pytest.mark.dynamo(max_graphs=1)
@pytest.mark.parametrize("n", range(2))
def test_each_test_compiles_anew(warm, n, dynamo):
    assert dynamo.summary.graphs == 0
    warm(torch.ones(3))
    warm(torch.ones(3))
    assert [graph.calls for graph in dynamo.graphs] == [2]
    assert dynamo.recording.problems == []

@pytest.mark.dynamo(max_graphs=0, reset=False)
def test_what_was_compiled_before_is_there(warm):
    warm(torch.ones(3))

@pytest.mark.dynamo(max_breaks=0)
class TestOfUnittest(unittest.TestCase):
    def test_case(self):
        shared(torch.ones(3))

def test_another():
    shared(torch.ones(3))

@pytest.mark.dynamo(max_brakes=0)
def test_typo():
    pass

@pytest.mark.xfail(strict=True)
@pytest.mark.dynamo(max_graphs=0)
def test_expected_to_fail():
    shared(torch.ones(3))

@pytest.mark.dynamo
def test_forks(dynamo):
    shared(torch.ones(3))
    child = os.fork()
    if child == 0:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert dynamo.summary.graphs == 1

@pytest.mark.dynamo(max_graphs=1)
@pytest.mark.parametrize("name", ["stat", "lstat", "open"])
def test_that_replaces_calls(name, monkeypatch):
    shared(torch.ones(3))
    monkeypatch.setattr(os, name, None)

@pytest.mark.dynamo(max_graphs=9)
def test_that_removes_its_recording():
    for folder in glob.glob(os.environ["TMPDIR"] + "/dynamo_pytest_*"):
        shutil.rmtree(folder)
    shared(torch.ones(3))

def test_of_which_nothing_is_expected(dynamo):
    shared(torch.ones(3))
"""


@pytest.fixture
def run_pytest(environment: Mapping[str, str], tmp_path: Path) -> Run:
    """Run pytest with the plugin, installed or not, in the test's own folder."""

    def run(*arguments: str, python: tuple[str, ...] = (sys.executable,), **env: str) -> Result:
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80"}
        plugins = ("-p", "dynamo_pytest.plugin", "-p", "xdist", "-p", "no:cacheprovider")
        command = [*python, "-m", "pytest", "--color=no", *plugins, *arguments]
        return run_to_end(command, {**environment, **alone, **env}, tmp_path)

    return run


def example(title: str) -> str:
    """An indented block of the documentation, from the line with this title."""
    block = DOCUMENTED.partition(f"    {title}\n")[2]
    return f"{title}\n" + textwrap.dedent(re.split(r"^(?=\S)", block, maxsplit=1, flags=re.MULTILINE)[0])


def test_the_documented_example_says_what_is_documented(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(example("# test_model.py"))
    done = run_pytest("--dynamo")
    assert done.exit_code == 1, done.stdout
    said = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert example("E   graph-breaks: 1, at most 0 allowed").strip() in said
    assert "1 failed, 1 passed" in done.stdout
    assert "FAILED test_model.py::test_scaled - graph-breaks: 1, at most 0 allowed" in done.stdout


@nightly
def test_what_a_test_compiles_is_its_own(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(TESTS)
    done = run_pytest("--dynamo", "--strict-markers", TMPDIR=str(tmp_path))
    assert "1 failed, 10 passed, 1 xfailed, 1 error" in done.stdout, done.stdout
    assert "FAILED test_own.py::test_that_removes_its_recording - what the test compiled" in done.stdout
    assert "'max_brakes', which is not known; known are max_breaks" in done.stdout


@nightly
def test_a_lock_file_that_workers_wrote_names_what_got_worse(run_pytest: Run, tmp_path: Path) -> None:
    clean = "import torch\n\n@torch.compile(backend='eager')\ndef f(x):\n    return x.relu()\n\n"
    tests = "".join(f"def test_{name}():\n    f(torch.ones(3))\n\n" for name in "abc")
    torn = "def test_torn(request):\n    request.addfinalizer(lambda: 1 / 0)\n    f(torch.ones(3))\n"
    (tmp_path / "test_locked.py").write_text(clean + tests + torn)
    updated = run_pytest("-n", "2", "--dynamo-update")
    assert "dynamo: dynamo.lock: 3 new; 1 failed" in updated.stdout, updated.stdout + updated.stderr
    lock = (tmp_path / "dynamo.lock").read_text()
    assert lock.count("graphs = 1\n") == 3
    (tmp_path / "test_locked.py").write_text(
        clean.replace("return x", "x = x * 2\n    print('x')\n    return x")
        + tests.replace("test_c", "test_d")
    )
    worse = run_pytest("--dynamo-lock", "dynamo.lock")
    assert worse.exit_code == 1
    assert "2 failed, 1 passed" in worse.stdout
    assert "E   graphs: 1 → 2\nE   graph-breaks: 0 → 1\n" in worse.stdout
    assert ">       print('x')\nE   graph break: " in worse.stdout
    assert "dynamo: not in dynamo.lock, to which --dynamo-update adds them: test_locked.py::test_d" in (
        worse.stdout
    )
    assert "and no tests (if they are gone, delete their tables): test_locked.py::test_c" in worse.stdout
    assert (tmp_path / "dynamo.lock").read_text() == lock


def test_under_dynamo_run_there_is_one_engine(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(example("# test_model.py"))
    command = (sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", "recording")
    done = run_pytest("--dynamo", python=command)
    assert (done.exit_code, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout
    assert "torch.__trace" not in done.stdout
    assert len(list((tmp_path / "recording").glob("dedicated_log_torch_trace_*"))) == 1


VERIFIED = """
import pytest
import torch

def adds_one(gm, inputs):
    return lambda *args: tuple(value + 1 for value in gm(*args))

@torch.compile(backend=adds_one)
def off_by_one(x):
    return x * 2

@torch.compile(backend="eager")
def right(x):
    return x * 2

@pytest.mark.parametrize("i", range(3))
def test_right(i):
    right(torch.ones(3, requires_grad=True) * i).sum().backward()

def test_wrong_in_each_test():
    off_by_one(torch.ones(3))

def test_wrong_again():
    off_by_one(torch.ones(3))
"""  # what is right comes first: to search for what is wrong takes of the time that comparing may take


def test_with_verify_a_test_with_a_wrong_result_fails(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_verified.py").write_text(VERIFIED)
    done = run_pytest("--dynamo-verify", "-n", "1")
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_verified.py::test_wrong_again - wrong result" in done.stdout
    assert "E   wrong result: call 1, result: off by 1" in done.stdout
    assert "dynamo: 5 calls compared with plain Python, 2 wrong" in done.stdout


def test_with_verify_a_run_that_compared_nothing_does_not_pass(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
    done = run_pytest("--dynamo-verify")
    assert (done.exit_code, "1 passed" in done.stdout) == (115, True), done.stdout + done.stderr
    assert "dynamo: no call of what is compiled was compared with plain Python" in done.stdout


def test_without_its_options_it_loads_nothing(run_pytest: Run, tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\ndef test_plain():\n"
        "    ours = [name for name in sys.modules if name.startswith(('dynamo_', 'torch'))]\n"
        "    assert ours == ['dynamo_pytest', 'dynamo_pytest.plugin']\n"
    )
    assert "1 passed" in run_pytest().stdout


@pytest.mark.parametrize(
    ("lock", "project", "env", "says"),
    [
        ('version = 1\n<<<<<<< ours\n["p"]\n', "", {}, "dynamo.lock:2: a merge is not resolved"),
        ("version = 2\n", "", {}, "has version 2, this dynamo reads 1"),
        ("", "", {}, "has version None, this dynamo reads 1"),
        (None, "", {}, "--dynamo-update writes it"),
        ("version = 1\n", "[tool.dynamo.check]\nmax-brakes = 1\n", {}, "'max-brakes', which is not known"),
        (
            "version = 1\n",
            "",
            {"TORCHDYNAMO_DISABLE": "1"},
            "TORCHDYNAMO_DISABLE=1 switches torch.compile off",
        ),
    ],
)
def test_bad_input_is_one_line_before_the_first_test(
    lock: str | None, project: str, env: dict[str, str], says: str, run_pytest: Run, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(project)
    if lock is not None:
        (tmp_path / "dynamo.lock").write_text(lock)
    done = run_pytest("--dynamo-lock", "dynamo.lock", **env)
    assert (done.exit_code, says in done.stderr) == (4, True), done.stdout + done.stderr
    assert done.stderr.strip().count("\n") == 0
