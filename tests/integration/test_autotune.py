"""`dynamo autotune`: what it measures, rejects, keeps, and what the backend `autotuned` makes of it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython, run_to_end
from recordings import PROGRAMS
from support.answering import Result
from support.schemas import validate

Runner = Callable[..., Result]
PROGRAM = PROGRAMS / "autotuned.py"
BAD = PROGRAMS / "bad_backends.py"


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Only the test of Ctrl-C is about a process of its own."""
    return forked


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, python: ForkingPython) -> Path:
    """A folder with a recording of the program, `r`, what was measured of it, and a file of winners.

    `told.json` has the measurements; which of those tiny graphs has a winner depends on the machine, so the
    winners of `tuned.json` are made up.
    """
    folder = tmp_path_factory.mktemp("autotune")
    dynamo = ("-m", "dynamo_cli")
    recorded = python.run(*dynamo, "run", "-q", "--backend", "eager", "-o", "r", PROGRAM, cwd=folder)
    assert recorded.exit_code == 0, recorded.stderr
    options = ("--autotune-file", "measured.json", "--candidates", "eager,aot_eager,ofi", "--budget", "1")
    tuned = python.run(
        *(*dynamo, "autotune", *options, "--format", "json", "-o", "told.json", "r"), cwd=folder
    )
    assert tuned.exit_code == 0, tuned.stderr
    graphs = json.loads((folder / "told.json").read_text())["graphs"]
    (folder / "tuned.json").write_text(file_of(graphs, ["aot_eager", "eager", "eager", "eager"]))
    return folder


def file_of(graphs: list[dict[str, Any]], winners: list[str]) -> str:
    """An autotune file of what a document has, with these winners."""
    conditions = ("key", "device", "torch", "settings", "sizes", "inputs", "measurements")
    entries = [
        {name: graph[name] for name in conditions}
        | {"winner": winner, "ops": graph["op_count"], "from": graph["frame"], "measured": "today"}
        for graph, winner in zip(graphs, winners, strict=True)
    ]
    return json.dumps({"schema": "dynamo-autotuned", "version": 2, "graphs": entries})


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "told.json").read_text())
    validate(document)
    return document


def by_frame(document: dict[str, Any], frame: str) -> list[dict[str, Any]]:
    return [graph for graph in document["graphs"] if graph["frame"] == frame]


def verdicts(graph: dict[str, Any]) -> dict[str, str]:
    return {each["candidate"]: each["verdict"] for each in graph["measurements"]}


def test_every_candidate_is_measured_on_every_graph(told: dict[str, Any]) -> None:
    assert [graph["problem"] for graph in told["graphs"]] == [None] * 4
    (train,) = by_frame(told, "train")
    assert verdicts(train) == {"eager": "agrees", "aot_eager": "agrees", "ofi": "declined"}
    eager = train["measurements"][0]
    assert eager["backward_seconds"] > 0 and eager["forward_seconds"] > 0
    assert len(eager["rounds"]) >= 6
    assert all(len(each) == 4 for each in eager["rounds"])
    (infer,) = by_frame(told, "infer")
    assert set(verdicts(infer).values()) == {"agrees"}
    assert {each["backward_seconds"] for each in infer["measurements"]} == {None}


def test_a_graph_with_symbolic_sizes_is_measured_with_them(told: dict[str, Any]) -> None:
    fixed, symbolic = by_frame(told, "grow")
    assert (fixed["sizes"], symbolic["sizes"]) == ([], ["4 to 7"])
    assert verdicts(fixed)["ofi"] == "agrees"
    assert verdicts(symbolic)["ofi"] == "declined"
    assert verdicts(symbolic)["aot_eager"] == "agrees"


def test_a_winner_beats_what_is_simpler_and_without_one_nothing_is_stored(
    told: dict[str, Any], folder: Path
) -> None:
    stored = {
        each["key"]: each["winner"] for each in json.loads((folder / "measured.json").read_text())["graphs"]
    }
    for graph in told["graphs"]:
        found = {each["candidate"]: each for each in graph["measurements"] if each["verdict"] == "agrees"}
        assert stored.get(graph["key"]) == graph["winner"]
        assert (graph["winner"] is None) == bool(graph["undecided"])
        for name, each in found.items():
            if each["standing"] == "slower":
                assert each["beside_best"]["low"] > 1, name
                assert graph["winner"] is None or each["seconds"] >= found[graph["winner"]]["seconds"]


def test_where_the_budget_ends_first_nothing_is_stored(folder: Path, run: Runner, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import random, time\n"
        "noise = random.Random(0)\n"  # the same for both: neither can look quicker by chance
        "def backend(gm, inputs):\n"
        "    def call(*arguments):\n"
        "        time.sleep(noise.choice([0, 0.03]))\n"
        "        return gm.forward(*arguments)\n"
        "    return call\n"
        "def another(gm, inputs):\n"
        "    return backend(gm, inputs)\n"
    )
    candidates = ("--candidates", "noisy.py:backend,noisy.py:another", "--budget", "0")
    result = run("autotune", "--autotune-file", "t.json", *candidates, "--graph", "2", folder / "r")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("1 distinct graph; undecided for 1\n")
    assert "Nothing was stored for them" in result.stdout
    assert json.loads((tmp_path / "t.json").read_text())["graphs"] == []


def test_keys_are_those_of_another_run(
    told: dict[str, Any], folder: Path, run: Runner, tmp_path: Path
) -> None:
    result = run("run", "-q", "--backend", "aot_eager", "-o", "again", PROGRAM, env={"PYTHONHASHSEED": "7"})
    assert result.exit_code == 0, result.stderr
    keys = [keys_in(path) for path in (folder / "r", tmp_path / "again")]
    assert keys[0] == keys[1] == [graph["key"] for graph in told["graphs"]]
    assert len(set(keys[0])) == 4


def keys_in(recording: Path) -> list[str]:
    (stream,) = recording.glob("dedicated_log_torch_trace_*")
    return re.findall(r'"key": "([0-9a-f]{24})"', stream.read_text())


def test_nothing_is_measured_twice(folder: Path, run: Runner) -> None:
    tuned = folder / "tuned.json"
    before = tuned.read_bytes()
    result = run("autotune", "--autotune-file", tuned, "--candidates", "eager,ofi", folder / "r")
    assert "Nothing was new" in result.stdout
    assert "measuring" not in result.stderr
    assert tuned.read_bytes() == before


def test_bad_candidates_are_results(folder: Path, run: Runner) -> None:
    names = ["off_by_a_thousandth", "aborts", "hangs", "raises", "gives_nothing", "ends_when_timed", "prints"]
    candidates = ",".join(["eager", *(f"{BAD}:{name}" for name in names)])
    result = run(
        *("autotune", "--autotune-file", "t.json", "--candidates", candidates, "--time-limit", "15"),
        *("--budget", "0"),
        *("--graph", "3", "--format", "json", folder / "r"),
    )
    assert result.exit_code == 0, result.stderr
    (graph,) = json.loads(result.stdout)["graphs"]
    found = {each["candidate"].rpartition(":")[2]: each for each in graph["measurements"]}
    assert {name: found[name]["verdict"] for name in ("eager", *names)} == {
        "eager": "agrees",
        "off_by_a_thousandth": "disagrees",
        "aborts": "crashed",
        "hangs": "timed out",
        "raises": "failed",
        "gives_nothing": "failed",
        "ends_when_timed": "crashed",
        "prints": "agrees",
    }
    assert "is off by" in found["off_by_a_thousandth"]["reason"]
    assert found["aborts"]["reason"] == "crashed: signal 6 (SIGABRT)"
    assert found["hangs"]["reason"] == "no answer after 15 s"
    assert found["raises"]["reason"] == "RuntimeError: it does not like this graph"
    assert found["gives_nothing"]["reason"] == "it returned None"
    assert "exit code 3" in found["ends_when_timed"]["reason"]


def test_the_backend_autotuned_uses_the_winners(
    told: dict[str, Any], folder: Path, run: Runner, tmp_path: Path
) -> None:
    content = json.loads((folder / "tuned.json").read_text())
    content["graphs"][1]["winner"] = "ofi"
    content["graphs"][2]["torch"] = "1.0"
    content["graphs"][3]["sizes"] = ["64 to 127"]
    (tmp_path / "some.json").write_text(json.dumps(content))
    plain = run_to_end([sys.executable, str(PROGRAM)], dict(os.environ), tmp_path)
    chain = ("--backend", "autotuned,eager", "--autotune-file", "some.json")
    result = run("explain", *chain, "--format", "json", "-o", "e.json", PROGRAM)
    assert result.exit_code == 0, result.stderr
    assert plain.stdout in result.stderr
    document = json.loads((tmp_path / "e.json").read_text())
    taken = [graph["assigned_backend"] for process in document["processes"] for graph in process["graphs"]]
    assert [(each["by"], each["using"]) for each in taken] == [
        ("autotuned", "aot_eager"),
        ("autotuned", "ofi"),
        ("eager", None),
        ("eager", None),
    ]
    assert "has this graph for torch 1.0, and this is" in taken[2]["declined"][0]["reason"]
    assert "has this graph for sizes 64 to 127, and this has 4 to 7" in taken[3]["declined"][0]["reason"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "`dynamo autotune PROGRAM` writes it"),
        ("{", "is damaged: it is not JSON"),
        ("[]", "is no autotune file"),
        ('{"schema": "dynamo-autotuned", "version": 9}', "is of version 9"),
        ('{"schema": "dynamo-autotuned", "version": 2, "graphs": [{}]}', "is damaged: KeyError"),
    ],
)
def test_a_file_that_is_no_good(content: str | None, said: str, run: Runner, tmp_path: Path) -> None:
    file = tmp_path / "tuned.json"
    if content is not None:
        file.write_text(content)
    used = run("run", "--backend", "autotuned", "--autotune-file", file, PROGRAM)
    assert (used.exit_code, used.stdout) == (116, "")
    assert said in used.stderr
    assert used.stderr.count("\n") == 1


def test_a_file_that_is_no_good_is_not_replaced(folder: Path, run: Runner, tmp_path: Path) -> None:
    file = tmp_path / "tuned.json"
    file.write_text("{")
    written = run("autotune", "--autotune-file", file, "--candidates", "eager", folder / "r")
    assert written.exit_code == 116
    assert "is damaged: it is not JSON" in written.stderr
    assert file.read_text() == "{"


def test_what_cannot_be_measured_is_said(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "no_graph.py").write_text("import torch\nprint(1)\n")
    result = run("autotune", "no_graph.py")
    assert result.exit_code == 115
    assert "there is no compiled graph" in result.stderr
    assert run("autotune", "--candidates", "eager,autotuned", "no_graph.py").exit_code == 2
    assert run("autotune", "--candidates", "eager,nonesuch", "no_graph.py").exit_code == 124


def test_ctrl_c_keeps_what_is_done(folder: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dynamo_cli", "autotune", "--autotune-file", "t.json"]
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\ngraphs = 0\ndef slow(gm, inputs):\n    global graphs\n    graphs += 1\n"
        "    time.sleep(1000 if graphs == 2 else 0)\n    return gm.forward\n"
    )
    process = subprocess.Popen(
        [*command, "--budget", "0", "--candidates", f"eager,{slow}:slow", str(folder / "r")],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    assert any("graph 2 of 4" in line for line in process.stderr)  # it reads on until that comes
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted: 1 of 4 graphs are done and kept" in said
    assert len(json.loads((tmp_path / "t.json").read_text())["graphs"]) <= 1


def test_inductor_is_measured(folder: Path, run: Runner) -> None:
    result = run(
        "autotune",
        "--autotune-file",
        "t.json",
        "--candidates",
        "eager,inductor",
        "--graph",
        "2",
        folder / "r",
    )
    assert result.exit_code == 0, result.stderr
    assert re.search(r"inductor +[\d.]+ µs ", result.stdout), result.stdout
