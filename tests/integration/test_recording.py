"""What a recording holds, and that other tools can read it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.model import Graph, Process, Recording
from dynamo_core.recording.read import read
from dynamo_reporters.topics import CONTENTS
from recordings import SAMPLES
from support.answering import Result
from support.cases import nightly
from support.torch_version import TORCH

TOY = SAMPLES / "toy_example.py"
TLPARSE = shutil.which("tlparse", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("toy")


@pytest.fixture
def toy(folder: Path, run: Callable[..., Result]) -> Recording:
    """The toy example, recorded once with Inductor."""
    if not (folder / "rec").exists():
        workers = {"TORCHINDUCTOR_COMPILE_THREADS": "2"}  # Inductor starts them where it may use two
        assert run("run", "-q", "-o", folder / "rec", TOY, env=workers).exit_code == 0
    return read(folder / "rec", CONTENTS)


@pytest.fixture
def process(toy: Recording) -> Process:
    (process,) = toy.processes
    return process


def test_toy_has_three_graphs_of_five_two_and_one_ops(process: Process) -> None:
    assert [graph.ops for graph in process.compiled_graphs] == [5, 2, 1]
    assert [graph.backend for graph in process.graphs] == ["inductor"] * 3
    first = process.graphs[0]
    assert first.calls == 100
    assert sum(graph.calls or 0 for graph in process.graphs[1:]) == 100
    assert first.host_seconds is not None
    assert first.host_seconds > 0


def test_nodes_have_names_shapes_and_user_lines(process: Process) -> None:
    first: Graph = process.graphs[0]
    assert first.nodes is not None
    assert [(node.op, node.target) for node in first.nodes] == [
        ("placeholder", "L_a_"),
        ("placeholder", "L_b_"),
        ("call_function", "torch.abs"),
        ("call_function", "operator.add"),
        ("call_function", "operator.truediv"),
        ("call_method", "sum"),
        ("call_function", "operator.lt"),
        ("output", "output"),
    ]
    absolute = first.nodes[2]
    (tensor,) = absolute.tensors
    assert (tensor.shape, tensor.stride, tensor.dtype, tensor.device) == ((10,), (1,), "float32", "cpu")
    assert absolute.args == "(l_a_,)"
    assert absolute.place is not None
    assert absolute.place.file == str(TOY)
    lines = TOY.read_text().split("\n")
    assert "torch.abs" in lines[absolute.place.line - 1]
    assert first.nodes[0].source == "L['a']"


def test_the_break_is_at_the_if(process: Process) -> None:
    (graph_break,) = process.breaks
    assert graph_break.place is not None
    assert "if b.sum() < 0" in TOY.read_text().split("\n")[graph_break.place.line - 1]
    assert graph_break.kind == "Data-dependent branching"
    assert graph_break.explanation is not None
    number = "GB0170" if TORCH >= (2, 9) else None  # 2.8 does not number its breaks
    assert graph_break.explanation.registry_id == number


def test_bytecode_links_to_graphs_and_resume_functions(process: Process) -> None:
    frame = next(bytecode for bytecode in process.bytecodes if bytecode.name == "toy_example")
    modified = " ".join(instruction.argument for instruction in frame.modified)
    assert process.graphs[0].name is not None
    assert process.graphs[0].name in modified
    resumed = [function for function in process.resume_functions if function.name in modified]
    assert len(resumed) == 2
    compiled = {bytecode.fingerprint for bytecode in process.bytecodes}
    assert {function.fingerprint for function in resumed} <= compiled
    assert all(function.made_by == frame.compile_id for function in resumed)
    lines = {instruction.line for instruction in frame.original if instruction.line}
    assert lines <= set(frame.source)
    assert any(instruction.jump is not None for instruction in frame.original)


def test_guards_have_types_sources_and_lines(process: Process) -> None:
    first = process.guard_sets[0]
    assert first.guards is not None
    tensor_guards = [guard for guard in first.guards if guard.type == "TENSOR_MATCH"]
    assert {guard.source for guard in tensor_guards} == {"L['a']", "L['b']"}
    assert all(guard.place and guard.place.file == str(TOY) for guard in tensor_guards)
    assert [len(s.guards or ()) for s in process.guard_sets] == [c.guards for c in process.compiles]


def test_the_run_is_described(toy: Recording, process: Process) -> None:
    assert toy.run is not None
    assert (toy.run.command or [""])[-1] == str(TOY)
    assert toy.run.exit_code == 0
    assert (toy.run.ended_ns or 0) > (toy.run.started_ns or 0)
    assert process.info.torch == process.torch_version
    assert (process.info.environment or {})["TORCHINDUCTOR_CACHE_DIR"]
    assert process.runtime.end is not None
    assert process.runtime.state.devices
    assert (process.runtime.state.torch_config or {})["torch._inductor.config"] == {"fallback_random": "True"}
    assert toy.problems == []
    assert not toy.is_partial


def test_inductors_workers_are_not_recorded(toy: Recording) -> None:
    assert len(toy.processes) == 1
    assert toy.python_processes == 1


def test_what_tidies_up_after_multiprocessing_is_no_process_of_the_programs(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    text = (
        "from multiprocessing.shared_memory import SharedMemory as S; s = S(create=True, size=8); s.unlink()"
    )
    (tmp_path / "shared.py").write_text(text)
    assert run("run", "-q", "-o", "recording", "shared.py").exit_code == 0
    assert read(tmp_path / "recording").python_processes == 1


@pytest.mark.skipif(TLPARSE is None, reason="tlparse is not installed")
def test_tlparse_opens_the_stream_and_shows_our_artifacts(process: Process, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(TLPARSE), process.stream, "-o", tmp_path / "out", "--no-browser"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "fail" not in done.stdout + done.stderr.lower().replace("failures", "")
    index = (tmp_path / "out" / "index.html").read_text()
    assert "dynamo_fx_graph" in index
    assert "dynamo_bytecode" in index


def test_each_record_is_a_line_of_json_behind_torchs_prefix(process: Process) -> None:
    for line in process.stream.read_text().split("\n"):
        if line and not line.startswith("\t"):
            assert isinstance(json.loads(line[line.index("] {") + 2 :]), dict)


@nightly
def test_torchs_own_trace_goes_on_beside_ours(run: Callable[..., Result], tmp_path: Path) -> None:
    env = {"TORCH_TRACE": str(tmp_path / "theirs")}
    assert run("run", "-q", "-o", "ours", "--backend", "eager", TOY, env=env).exit_code == 0
    (theirs,) = (tmp_path / "theirs").iterdir()
    (ours,) = read(tmp_path / "ours").processes
    (read_back,) = read(theirs).processes
    kinds = ("dynamo_start", "dynamo_output_graph", "compilation_metrics", "chromium_event")
    assert all(ours.health.record_counts[kind] >= read_back.health.record_counts[kind] for kind in kinds)
    assert len(read_back.compiled_graphs) == 3
    # Each says which line of torch's wrote it, and not torch's function for writing, as it would without us.
    assert not re.search(r"torch/_logging/_internal\.py:\d+\] \{\"chromium", theirs.read_text())


def test_a_torch_trace_that_is_not_ours_is_explained(
    run: Callable[..., Result], explained: Callable[..., dict[str, Any]], tmp_path: Path, environment: Any
) -> None:
    program = tmp_path / "compiles.py"
    program.write_text("import torch\ntorch.compile(torch.sin, backend='eager')(torch.ones(3))\n")
    trace = tmp_path / "trace"
    subprocess.run([sys.executable, program], env=environment | {"TORCH_TRACE": str(trace)}, check=True)
    summary = explained(trace)["summary"]
    assert (summary["processes"], summary["graphs"], summary["recompiles"]) == (1, 1, 0)
    assert summary["frames"] is None
    assert summary["graph_calls"] is None
    assert "not recorded" in run("explain", "--all", trace).stdout


def test_what_the_bytecode_carries_is_named_and_never_asked_for_its_repr(
    forked: Callable[..., Result], tmp_path: Path
) -> None:
    program = tmp_path / "secretive.py"
    program.write_text(
        """
import torch

API_KEY = "sk-do-not-record"  # a break puts the globals, of which this is one, into a constant

class Talkative:
    def __repr__(self):
        print("asked")
        return "talkative"

thing = Talkative()

@torch.compile(backend="eager")
def f(x):
    def inner(y):
        return y + 1
    x = inner(x)
    print("a break")
    return inner(x)

f(torch.full((2,), 42.4242))
"""
    )
    result = forked("run", "-o", tmp_path / "rec", program)
    assert result.exit_code == 0
    assert "asked" not in result.stdout
    (stream,) = (tmp_path / "rec").glob("*.log")
    text = stream.read_text()
    assert "42.4242" not in text.replace("torch.full((2,), 42.4242)", "")
    assert text.count("sk-do-not-record") == 0


UNDER_A_TRACER = """
import os, sys

def name_for_coverage(frame):  # as coverage/inorout.py has it (should_trace)
    code_file, module_file = frame.f_code.co_filename, frame.f_globals.get("__file__")
    is_moved = module_file and os.path.basename(module_file) == os.path.basename(code_file)
    return module_file if is_moved else code_file

measured = set()
sys.settrace(lambda frame, *_: measured.add(name_for_coverage(frame)))
import torch
torch.compile(torch.nn.Linear(3, 3), backend="eager")(torch.ones(2, 3)).sum().backward()
sys.settrace(None)
print(sorted(name for name in measured if "dynamo_core" in name))
print(any(name.startswith("<dynamo>") for name in measured))
"""


def test_no_file_of_ours_is_measured_with_the_programs(run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UNDER_A_TRACER)
    assert run("run", "-q", "program.py") == Result(0, "[]\nTrue\n", "")


def test_torch_logs_have_no_line_of_ours(run: Callable[..., Result], tmp_path: Path) -> None:
    program = "import torch\ntorch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
    (tmp_path / "program.py").write_text(program)
    result = run("run", "-q", "program.py", env={"TORCH_LOGS": "+dynamo"})
    assert "start compiling" in result.stderr
    assert not [
        line for line in result.stderr.splitlines() if "dynamo_core" in line or "bytecode_hooks" in line
    ]
