"""Programs as users have them: their results stay their own, and capture stays out of what is not theirs."""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from recordings import SAMPLES
from support.answering import Result
from support.cases import one_in
from support.torch_version import TORCH

TORCH_LOG_PREFIX = re.compile(r"^[VIWE]\d{4} [\d:.]+ \d+ ", re.MULTILINE)  # time and process id
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
PROGRAMS = [
    "train_loop.py",
    "hf_llama.py",
    "hf_bert_train.py",
    "transformer.py",
    "dataloader_workers.py",
    "worker_threads.py",
    "densenet.py",
]


@pytest.fixture
def run(forked: Callable[..., Result]) -> Callable[..., Result]:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture
def plain(python: ForkingPython, tmp_path: Path) -> Callable[..., Result]:
    """Run a program with plain Python."""
    return functools.partial(python.run, cwd=tmp_path)


@pytest.mark.parametrize("script", one_in(9, PROGRAMS))
def test_captured_results_agree_with_eager(script: str, run: Callable[..., Result], plain: Any) -> None:
    captured, eager = run("run", "-q", SAMPLES / script), plain(SAMPLES / script)
    assert captured.exit_code == eager.exit_code == 0, captured.stderr
    assert NUMBER.sub("#", captured.stdout) == NUMBER.sub("#", eager.stdout)
    for ours, theirs in zip(NUMBER.findall(captured.stdout), NUMBER.findall(eager.stdout), strict=True):
        assert float(ours) == pytest.approx(float(theirs), rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("script", one_in(2, ["train_loop.py", "hf_llama.py", "mixed_calls.py"]))
def test_without_capture_results_are_identical(script: str, run: Callable[..., Result], plain: Any) -> None:
    ours, theirs = run("run", "-q", "--capture", "none", SAMPLES / script), plain(SAMPLES / script)
    assert ours.exit_code == theirs.exit_code
    assert ours.stdout == theirs.stdout
    assert TORCH_LOG_PREFIX.sub("", ours.stderr) == TORCH_LOG_PREFIX.sub("", theirs.stderr)


@pytest.mark.parametrize("script", one_in(2, ["hf_llama.py", "hf_bert_train.py"]))
def test_building_a_model_is_not_captured(script: str, explained: Callable[..., dict[str, Any]]) -> None:
    document = explained("--backend", "eager", SAMPLES / script)
    frames = [frame for process in document["processes"] for frame in process["frames"]]
    assert frames
    assert not [frame for frame in frames if re.search("init|post_init|reset_parameters", frame["name"])]
    breaks = [b["place"] for process in document["processes"] for b in process["graph_breaks"]]
    assert not [place for place in breaks if "/init.py" in place["file"]]


def test_threads_are_captured_like_the_main_one(explained: Callable[..., dict[str, Any]]) -> None:
    document = explained("--backend", "eager", SAMPLES / "worker_threads.py")
    assert document["summary"]["graphs"] >= 1
    assert document["summary"]["graph_calls"] >= 3


def test_each_spawned_process_has_its_own_stream(explained: Callable[..., dict[str, Any]]) -> None:
    document = explained("--backend", "eager", SAMPLES / "spawn_workers.py")
    with_graphs = [process for process in document["processes"] if process["graphs"]]
    assert len(with_graphs) == 2
    assert len({process["info"]["pid"] for process in document["processes"]}) == len(document["processes"])


def test_a_forked_child_has_its_own_stream(explained: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(
        "import os, torch\n"
        "double = torch.compile(lambda x: x * 2, backend='eager')\n"
        "double(torch.ones(3))\n"
        "if os.fork() == 0:\n"
        "    for _ in range(7): double(torch.ones(3))\n"
        "    torch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
        "    raise SystemExit(0)\n"
        "os.wait()\n"
        "double(torch.ones(3))\n"
    )
    document = explained(program)
    parent = next(p for p in document["processes"] if not p["info"].get("forked"))
    child = next(p for p in document["processes"] if p["info"].get("forked"))
    assert [graph["calls"] for graph in parent["graphs"]] == [2]
    assert [graph["calls"] for graph in child["graphs"]] == [1]
    assert child["inherited_graph_calls"] == 7
    assert document["summary"]["graph_calls"] == 2 + 1 + 7
    assert child["info"]["ppid"] == parent["info"]["pid"]
    assert document["problems"] == []


def test_calls_are_counted_whatever_ends_the_process(
    explained: Callable[..., dict[str, Any]], run: Callable[..., Result], tmp_path: Path
) -> None:
    program = tmp_path / "exits.py"
    program.write_text(
        "import os, torch\n"
        "double = torch.compile(lambda x: x * 2, backend='eager')\n"
        "for _ in range(1234): double(torch.ones(3))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = run("run", "-o", "rec", program)
    assert killed.exit_code == -9
    assert "killed by SIGKILL" in killed.stderr
    document = explained("rec")
    assert document["summary"]["graph_calls"] == 1234
    assert document["summary"]["signal"] == 9
    assert document["is_partial"] is True


def test_a_program_that_compiles_for_itself_is_only_observed(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "compiles.py"
    program.write_text(
        "import torch\n"
        "def eager_reference(x): return x.sin()\n"
        "def compiled(x): return x.sin()\n"
        "eager_reference(torch.ones(3))\n"
        "torch.compile(compiled, backend='aot_eager', dynamic=True)(torch.ones(3))\n"
        "eager_reference(torch.ones(3))\n"
    )
    (process,) = explained(program)["processes"]
    assert process["captures"][-1]["decision"] == "observe"
    assert [frame["name"] for frame in process["frames"]] == ["compiled"]
    assert [graph["backend"] for graph in process["graphs"]] == ["aot_eager"]


def test_a_conditional_compile_call_decides_at_run_time(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "maybe.py"
    program.write_text(
        "import sys, torch\n"
        "def work(x): return x.sin()\n"
        "def other(x): return x.cos()\n"
        "if '--compile' in sys.argv:\n"
        "    work = torch.compile(work, backend='aot_eager')\n"
        "work(torch.ones(3)); other(torch.ones(3))\n"
    )
    with_flag = explained("--backend", "eager", program, "--compile")
    without = explained("--backend", "eager", program)
    assert [g["backend"] for p in with_flag["processes"] for g in p["graphs"]] == ["aot_eager"]
    assert [g["backend"] for p in without["processes"] for g in p["graphs"]] == ["eager", "eager"]


def test_stopping_capture_leaves_torchs_settings_as_they_were(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    program = tmp_path / "maybe.py"
    program.write_text(
        "import sys, torch\n"
        "if sys.argv: compiled = torch.compile(torch.sin)\n"
        "import torch._inductor.config, torch._dynamo.config\n"
        "print(torch._inductor.config.fallback_random, torch._dynamo.config.assume_static_by_default)\n"
    )
    assert run("run", "-q", "--dynamic", program).stdout == "False True\n"


def test_a_program_may_set_the_stance_while_it_is_captured(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "stance.py"
    program.write_text(
        "import torch\n"
        "def first(x): return x.sin()\n"
        "def second(x): return x.cos()\n"
        "with torch.compiler.set_stance('force_eager'):\n"
        "    first(torch.ones(3))\n"
        "second(torch.ones(3))\n"
    )
    document = explained("--backend", "eager", program)
    frames = [frame["name"] for process in document["processes"] for frame in process["frames"]]
    assert frames == ["second"]


def test_the_recompile_limit_is_a_fallback_to_eager(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "limit.py"
    program.write_text(
        "import torch\n"
        "def tagged(x, tag): return x + len(tag)\n"
        "for n in range(20): tagged(torch.ones(3), 'a' * n)\n"
    )
    document = explained("--backend", "eager", program)
    (process,) = document["processes"]
    assert document["summary"]["frames_fell_back"] == 1
    last = process["frames"][-1]
    assert (last["outcome"], last["name"]) == ("failed", "tagged")
    words = "recompile limit exceeded" if TORCH >= (2, 11) else "recompile_limit reached"
    assert words in last["reason"]
    assert process["compiles"][-1]["frame"] == "tagged"
    (limit,) = (finding for finding in document["findings"] if finding["kind"] == "recompile limit")
    assert limit["effect"].endswith("from call 9 on it ran eager, 12 times")


def test_torchs_own_modules_are_captured_where_they_are_outermost(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "sequential.py"
    program.write_text(
        "import torch\n"
        "model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))\n"
        "loss = torch.nn.MSELoss()\n"
        "for _ in range(3):\n"
        "    loss(model(torch.ones(2, 4)), torch.zeros(2, 1)).backward()\n"
    )
    document = explained("--backend", "eager", program)
    graphs = [graph for process in document["processes"] for graph in process["graphs"]]
    assert [(graph["ops"], graph["calls"]) for graph in graphs] == [(3, 3), (1, 3)]
    assert document["summary"]["frames_fell_back"] == 0


@pytest.mark.parametrize("backend", ["own.py:printing", "own:printing"])
def test_a_backend_in_the_program_itself_does_not_run_it_twice(
    backend: str, run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(
        "import torch\n"
        "def printing(gm, inputs):\n"
        "    print('compiling'); return gm.forward\n"
        "def work(x): return x.sin()\n"
        "print('begin'); work(torch.ones(3)); print('end')\n"
    )
    assert run("run", "-q", "--backend", backend, "own.py").stdout == "begin\ncompiling\nend\n"


def test_a_compile_made_by_a_library_is_the_programs_own(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    library = tmp_path / "site-packages" / "helper.py"
    library.parent.mkdir()
    library.write_text(
        "import torch\n"
        "@torch.compile\n"
        "def decorated_on_import(x): return x\n"
        "def prepare(f): return torch.compile(f, backend='aot_eager')\n"
    )
    program = tmp_path / "uses.py"
    program.write_text(
        "import torch, helper\n"
        "def first(x): return x.sin()\n"
        "def second(x): return x.cos()\n"
        "first(torch.ones(3))\n"
        "helper.prepare(second)(torch.ones(3))\n"
    )
    document = explained("--backend", "eager", program, env={"PYTHONPATH": str(library.parent)})
    (process,) = document["processes"]
    assert [graph["backend"] for graph in process["graphs"]] == ["eager", "aot_eager"]
    assert [decision["decision"] for decision in process["captures"]] == ["capture", "observe"]


@pytest.mark.parametrize("has_other_thread", [False, True], ids=["alone", "beside_another_thread"])
def test_what_was_left_alone_compiles_once_the_program_compiles(
    explained: Callable[..., dict[str, Any]], tmp_path: Path, has_other_thread: bool
) -> None:
    library = tmp_path / "site-packages" / "helper.py"
    library.parent.mkdir()
    library.write_text("import torch\ndef prepare(f): return torch.compile(f, backend='aot_eager')\n")
    program = tmp_path / "uses.py"
    program.write_text(
        "import sys, threading, torch, helper\n"
        "ending = threading.Event()\n"
        "other = threading.Thread(target=ending.wait)\n"
        f"if {has_other_thread}: other.start()\n"
        "def work(x): return x + x\n"
        "for n in range(100): work(n)\n"
        "helper.prepare(work)(torch.ones(3))\n"
        "ending.set()\n"
    )
    document = explained("--backend", "eager", program, env={"PYTHONPATH": str(library.parent)})
    (process,) = document["processes"]
    assert [graph["backend"] for graph in process["graphs"]] == ["aot_eager"]
    assert [decision["decision"] for decision in process["captures"]] == ["capture", "observe"]


def test_plain_python_code_is_not_slowed_down_for_good(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """A function that is never given a tensor is asked about a bounded number of times."""
    program = tmp_path / "fib.py"
    program.write_text(
        "import sys, torch\n"
        "from dynamo_core.capture.whole_program import policy\n"
        "asked = 0\n"
        "original = policy.Policy.verdict\n"
        "def verdict(self, frame):\n"
        "    global asked\n"
        "    asked += frame.f_code.co_name == 'fib'\n"
        "    return original(self, frame)\n"
        "policy.Policy.verdict = verdict\n"
        "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "fib(15)\n"
        "sys.exit(0 if 0 < asked <= 50 else asked)\n"
    )
    assert explained("--backend", "eager", program)["summary"]["exit_code"] == 0


def test_module_compile_counts_as_compiling_for_itself(
    explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    program = tmp_path / "module.py"
    program.write_text(
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x): return x.sin()\n"
        "model = Model()\n"
        "model(torch.ones(3))\n"
        "model.compile(backend='aot_eager')\n"
        "model(torch.ones(3))\n"
    )
    document = explained("--backend", "eager", program)
    (process,) = document["processes"]
    assert process["captures"][-1]["decision"] == "observe"
    assert [graph["backend"] for graph in process["graphs"]] == ["eager", "aot_eager"]
    assert document["summary"]["recompiles"] == 0
