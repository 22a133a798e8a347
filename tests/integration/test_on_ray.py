"""A local Ray cluster of two workers: a suite and autotune on it (`--on ray`), and recorded actors."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from recordings import PROGRAMS
from support.cases import nightly
from support.schemas import validate

ray_cluster = pytest.importorskip("ray.cluster_utils", reason="needs Ray: pip install 'dynamo-cli[ray]'")

STEPS = """\
import sys, torch
from beside import step
x = torch.ones(8)
for _ in range(12):
    x = step(x)
print(f"{x.sum().item():.4f}")
sys.exit({code})
"""
BESIDE = "def step(x):\n    return x.sin() + 1\n"
SUITE = """\
backends = ["eager", "aot_eager"]
repeat = 1
time-limit = 120
[programs.works]
run = "works.py"
[programs.fails]
run = "fails.py"
[programs.absent]
run = "works.py"
needs = ["no_module_has_this_name"]
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a cluster of two workers of one processor each."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        environment.delenv("PYTEST_CURRENT_TEST", raising=False)
        # A worker finds this checkout as this process does, however it was installed.
        environment.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        cluster = ray_cluster.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1)
            yield cluster.address
        finally:
            cluster.shutdown()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "beside.py").write_text(BESIDE)
    for name, code in (("works", 0), ("fails", 3)):
        (folder / f"{name}.py").write_text(STEPS.replace("{code}", str(code)))
    (folder / "suite.toml").write_text(SUITE)
    return folder


def facts(document: dict[str, Any]) -> list[Any]:
    """What must be the same wherever it was measured."""
    kept = ("backend", "outcome", "problem", "basis", "graphs", "graph_breaks", "recompiles", "agreement")
    return [
        (each["program"], each["skipped"], [{name: row[name] for name in kept} for row in each["rows"]])
        for each in document["programs"]
    ]


@nightly
def test_the_same_rows_as_without_and_nothing_lost_with_a_worker(
    address: str, suite: Path, environment: dict[str, str], run: Runner
) -> None:
    arguments = ("bench", "--suite", suite, "--format", "json", "--results")
    here = run(*arguments, "here")
    assert here.exit_code == 0, here.stderr
    before = json.loads(here.stdout)

    there = subprocess.Popen(
        [sys.executable, "-m", "dynamo_cli", *map(str, arguments), "there", "--on", f"ray:{address}"],
        env=environment,
        cwd=suite.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.kill(_worker("dynamo: works"), signal.SIGKILL)
    stdout, stderr = there.communicate(timeout=300)
    assert there.returncode == 0, stderr
    document = json.loads(stdout)
    validate(document)
    assert "works: its worker was lost, so it is run again" in stderr
    assert facts(document) == facts(before)
    for each in document["programs"][:2]:
        machine = each["machine"]
        assert machine["host"] and machine["cpu"] == before["programs"][0]["machine"]["cpu"]
        assert each["script_sha256"] == before["programs"][0]["script_sha256"] or each["program"] == "fails"
    # A task has one processor, and torch as many threads; the two runs are not compared for that.
    assert document["programs"][0]["machine"]["devices"][0].endswith(" 1 threads")
    explained = json.loads(run("explain", "--format", "json", "there/runs/works/aot_eager-1").stdout)
    assert explained["summary"]["graphs"] == document["programs"][0]["rows"][1]["graphs"]

    # What only failed, or did not run, is tried again: another machine may have what it lacks.
    (suite / "fails.py").write_text((suite / "works.py").read_text())
    ran = run(*arguments, "there", "--on", f"ray:{address}")
    assert ran.exit_code == 0, ran.stderr
    again = json.loads(ran.stdout)
    assert again["kept"] == 1
    assert [row["outcome"] for row in again["programs"][1]["rows"]] == ["passed", "passed"]


@nightly
def test_each_graph_is_tuned_on_one_machine(address: str, run: Runner, suite: Path) -> None:
    arguments = ("--candidates", "eager,aot_eager", "--budget", "1", "--format", "json", "--backend", "eager")
    result = run("autotune", *arguments, "--on", f"ray:{address}", suite / "works.py")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout[result.stdout.index("{") :])
    validate(document)
    for graph in document["graphs"]:
        assert graph["host"] and graph["device"].endswith("1 thread")
        assert [each["candidate"] for each in graph["measurements"]] == ["eager", "aot_eager"]
        assert all(each["verdict"] == "agrees" for each in graph["measurements"])


@nightly
def test_actors_are_recorded_by_their_environment(
    address: str, run: Runner, environment: dict[str, str], tmp_path: Path
) -> None:
    recorded = run("env", "-o", tmp_path / "job", "--format", "ray").stdout
    (tmp_path / "none.json").write_text("{}")
    (tmp_path / "env.json").write_text(recorded)
    outputs = []
    for variables in ("none.json", "env.json"):
        command = [sys.executable, PROGRAMS / "ray_actors.py", address, tmp_path / variables]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    document = json.loads(run("ranks", "--format", "json", "job").stdout)
    rows = [(each["ranks"], each["graphs"], each["graph_breaks"]) for each in document["rows"]]
    assert rows == [([0], 1, 0), ([1], 2, 1)]
    [sides] = [each["sides"] for each in document["differences"] if each["subject"] == "graphs"]
    assert (sides[0]["what"], sides[0]["place"]["line"]) == ("cos float32[4]", 25)
    page = " ".join(run("ranks", "job").stdout.split())
    assert "The 2nd op of graph 1 is not the same on all ranks" in page


@nightly
@pytest.mark.parametrize(
    ("on", "code", "line"),
    [
        ("slurm", 2, "--on: 'slurm' is neither ray nor ray:ADDRESS"),
        ("ray:ADDRESS", 106, "works needs 1 CPU and 2 GPUs, which no machine of the Ray cluster has"),
    ],
)
def test_bad_input(address: str, suite: Path, run: Runner, on: str, code: int, line: str) -> None:
    text = (suite / "suite.toml").read_text()
    (suite / "suite.toml").write_text(text.replace("[programs.works]\n", "[programs.works]\ngpus = 2\n"))
    result = run("bench", "--suite", suite, "--on", on.replace("ADDRESS", address))
    assert (result.exit_code, result.stdout) == (code, "")
    assert line in result.stderr.splitlines()[-1]


def _worker(task: str) -> int:
    """The process of a worker that has begun a task, by the title that Ray gives it."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                title = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(f"ray::{task}".encode()):
                return int(folder.name)
        time.sleep(0.05)
    raise AssertionError(f"no worker began {task}")
