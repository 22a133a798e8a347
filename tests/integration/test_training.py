"""What a training program's forward graphs save, against what autograd really keeps of them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from recordings import PROGRAMS
from support.answering import Result
from support.cases import nightly
from support.schemas import validate

Runner = Callable[..., Result]


class Recorded:
    """A recording of programs/training.py, what it printed, and torch's own trace of that run if wanted."""

    def __init__(
        self, folder: Path, python: ForkingPython, *arguments: str, with_trace: bool = False
    ) -> None:
        self.path, self.plain = folder / "recording", folder / "trace"
        command = ("-m", "dynamo_cli", "run", "-q", "-o", self.path, PROGRAMS / "training.py", *arguments)
        if with_trace:
            result = python.run_anew(*command, cwd=folder, more={"TORCH_TRACE": str(self.plain)})
        else:
            result = python.run(*command, cwd=folder)
        assert result.exit_code == 0, result.stderr
        self.saved = [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture(scope="module")
def recorded(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Under a backend with Inductor's partitioner, and without its kernels."""
    folder = tmp_path_factory.mktemp("training")
    return Recorded(folder, python, "aot_eager_decomp_partition", with_trace=True)


def document(run: Runner, *arguments: str | Path) -> Any:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    validate(found)
    return found


def pairs_in(run: Runner, path: Path) -> list[dict[str, Any]]:
    found = document(run, "graphs", path)
    return [pair for graph in found["graphs"] for pair in graph["training"]]


def counts(pair: dict[str, Any]) -> list[Any]:
    """What the program prints of a forward, as we have it."""
    kinds = pair["saved_kinds"]
    own = {saved["storage"]: saved["storage_bytes"] for saved in pair["saved"] if saved["kind"] != "input"}
    storages = sum(size for size in own.values() if size is not None)
    return [pair["saved_tensors"], pair["saved_bytes"], kinds["input"], storages]


def test_what_is_saved_is_what_autograd_keeps(run: Runner, recorded: Recorded) -> None:
    pairs = pairs_in(run, recorded.path)
    assert len(recorded.saved) == 7
    # The input of the second graph of "broken" is the result of the first: not memory that the program gave.
    assert [counts(pair)[:2] for pair in pairs] == [real[1:3] for real in recorded.saved]
    told = [counts(pair) for pair, real in zip(pairs, recorded.saved, strict=True) if real[0] != "broken"]
    assert told == [real[1:] for real in recorded.saved if real[0] != "broken"]


def test_torchs_text_says_the_same(run: Runner, recorded: Recorded) -> None:
    assert pairs_in(run, recorded.plain) == pairs_in(run, recorded.path)


def test_what_checkpointing_computes_again(run: Runner, recorded: Recorded) -> None:
    names = [real[0] for real in recorded.saved]
    pair = pairs_in(run, recorded.path)[names.index("checkpointed")]
    assert {"aten.addmm", "aten.exp"} <= set(pair["recomputed"])
    assert [saved["kind"] for saved in pair["saved"]].count("activation") == 0


def test_the_documents_agree_and_inference_has_no_pair(run: Runner, recorded: Recorded) -> None:
    graphs = [graph for graph in document(run, "graphs", recorded.path)["graphs"] if graph["is_compiled"]]
    explained = document(run, "explain", recorded.path)["processes"][0]["graphs"]
    ops = document(run, "ops", recorded.path)["graphs"]
    explained = [graph for graph in explained if graph["compiled"]]
    for graph, totals, named in zip(graphs, explained, ops, strict=True):
        for pair, numbers, operators in zip(
            graph["training"], totals["training"], named["training"], strict=True
        ):
            assert numbers == {field: pair[field] for field in numbers}
            assert operators == {field: pair[field] for field in operators}
            assert numbers["forward_ops"] == sum(operators["forward"].values())
    assert graphs[-1]["training"] == []  # the optimizer's step


def test_optimizers_are_captured_or_eager(run: Runner, recorded: Recorded) -> None:
    explained = document(run, "explain", recorded.path)["processes"][0]
    last = explained["graphs"][-1]["number"]
    assert [(o["name"], o["graphs"]) for o in explained["optimizers"]] == [("AdamW", []), ("SGD", [last])]
    page = run("explain", "--all", recorded.path).stdout
    assert "optimizer AdamW: its step is not captured, it runs eager" in page
    assert f"optimizer SGD: its step is captured, as graph {last}" in page


def test_pages(run: Runner, recorded: Recorded) -> None:
    page = run("graphs", "--training", "--graph", "1", recorded.path).stdout
    assert re.search(r"8\.0 kB  self\.mlp\.0\.weight +input +f32\[64, 32\] cpu", page)
    assert re.search(r"activation  aten\.addmm +f32\[32, 64\] cpu +\S+/training\.py:\d+\n", page)
    assert re.search(r"\d +\d+ +1  aten\.erf\b", run("ops", "--aot", "--graph", "1", recorded.path).stdout)
    last = run("graphs", "--training", "--frame", "step", recorded.path)
    assert last.exit_code == 0 and last.stdout.startswith("No graph has a backward")
    assert run("graphs", "--training", "--style", "code", recorded.path).exit_code == 2


def test_without_the_min_cut_partitioner(run: Runner, python: ForkingPython, tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, python, "aot_eager", "block", "convolutions")
    assert [counts(pair) for pair in pairs_in(run, recorded.path)] == [real[1:] for real in recorded.saved]


@nightly
def test_under_inductor_and_from_its_cache(
    run: Runner, python: ForkingPython, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in ("first", "again"):
        recorded = Recorded(tmp_path_factory.mktemp(name), python, "inductor", "broken", "checkpointed")
        pairs = pairs_in(run, recorded.path)
        assert [counts(pair)[:2] for pair in pairs] == [real[1:3] for real in recorded.saved]
    lookups = document(run, "explain", recorded.path)["processes"][0]["cache_lookups"]
    assert "hit" in {found["outcome"] for found in lookups if found["cache"] == "aotautograd_cache"}
