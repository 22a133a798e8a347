"""`dynamo run --profile`: what torch's profiler saw of steady steps is what the program did in them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_core.findings import CONTENTS as FINDINGS
from dynamo_core.findings import find
from dynamo_core.model import Process, ProfileWindow
from dynamo_core.recording.read import read
from dynamo_reporters.profile.window import CONTENTS
from launching import ForkingPython, Runner
from support.cases import nightly

Profiled = Callable[..., Process]
HAS_LINES = sys.version_info >= (3, 11)  # before, marking lines would keep tensors alive

TRAIN = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
for step in range(30):
    loss = compiled(torch.full((4, 8), 0.5)).square().mean()
    noise = torch.randn(300, 300).sort().values
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
"""
SORT_LINE = TRAIN.splitlines().index("    noise = torch.randn(300, 300).sort().values") + 1

FORWARD = """
import torch
@torch.compile
def f(x):
    return (x @ x).relu() + 1
x = torch.ones(64, 64)
for _ in range({calls}):
    y = f(x)
{end}
print(y.sum().item())
"""

PROFILES_ITSELF = """
import torch
from torch.profiler import profile
@torch.compile
def f(x):
    return x.sin() + 1
x = torch.ones(8)
for _ in range({before}):
    f(x)
with profile() as own:
    for _ in range(20):
        f(x)
        x.sort()
print(sum(event.name == "aten::sort" for event in own.events()))
"""


def _process(recording: Path) -> Process:
    process = max(read(recording, CONTENTS).processes, key=lambda process: len(process.graphs))
    assert process.health.failed_probes == {}
    return process


def _window(process: Process) -> ProfileWindow:
    assert process.profiling.window is not None, process.profiling.problem
    return process.profiling.window


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture
def profiled(run: Runner, python: ForkingPython, tmp_path: Path) -> Profiled:
    """Record a program with --profile: its process. It prints what it prints under plain Python."""

    def record(program: str, *options: str) -> Process:
        (tmp_path / "program.py").write_text(program)
        result = run("run", "-q", "-o", "recording", "--profile", *options, "program.py")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == python.run("program.py", cwd=tmp_path).stdout
        return _process(tmp_path / "recording")

    return record


def test_a_training_step_by_graph_and_by_line(profiled: Profiled) -> None:
    process = profiled(TRAIN, "--profile-steps", "4")
    window = _window(process)
    assert (window.steps, window.compiles, window.kernels, window.damaged_events) == (4, 0, None, 0)
    parts = {(part.graph.number, part.graph.is_backward): part for part in window.parts}
    assert set(parts) == {(1, False), (1, True)}
    assert all(part.calls == 4 and part.seconds >= part.operator_seconds > 0 for part in parts.values())
    calls = {(o.name, o.graph.is_backward if o.graph else None): o.calls for o in window.operators}
    assert calls["aten::addmm", False] == 2 * 4  # one for each Linear
    assert parts[1, False].extra_bytes is not None and parts[1, False].extra_bytes["cpu"] > 0
    eager = {(o.name, o.place): o.calls for o in window.eager}
    if HAS_LINES:
        sorts = {place: count for (name, place), count in eager.items() if name == "aten::sort"}
        assert {(Path(place.file).name, place.line): n for place, n in sorts.items() if place} == {
            ("program.py", SORT_LINE): 4
        }
        assert all(place is not None for _, place in eager)
    updates = [count for (name, _), count in eager.items() if name == "aten::add_"]
    assert sum(updates) == 4 * 4  # of four parameters
    inside = sum(part.seconds for part in window.parts)
    assert inside + sum(operator.seconds for operator in window.eager) <= window.seconds


LOADS = """
import time, torch
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self):
        return 60
    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.full((8,), float(index))
model = torch.nn.Linear(8, 1)
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(Slow(), batch_size=2):
    compiled(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
LOADER_LINE = LOADS.splitlines().index("for batch in DataLoader(Slow(), batch_size=2):") + 1


def test_a_slow_loader_and_an_eager_optimizer_are_found(tmp_path: Path, profiled: Profiled) -> None:
    process = profiled(LOADS, "--profile-steps", "4")
    window = _window(process)
    spans = {(span.kind, span.name): span for span in window.spans}
    loader = spans.pop(("loader", "_SingleProcessDataLoaderIter"))
    optimizer = spans.pop(("optimizer step", "AdamW"))
    assert (spans, loader.calls, optimizer.calls) == ({}, 4, 4)
    assert 4 * 2 * 0.01 <= loader.seconds < loader.seconds + optimizer.seconds < window.seconds
    places = [(Path(place.file).name, place.line) for place in loader.places]
    assert places == ([("program.py", LOADER_LINE)] if HAS_LINES else [])
    found = {each.kind: each for each in find(read(tmp_path / "recording", FINDINGS))}
    assert found["slow loader"].cost.saves_at_most.seconds == loader.seconds
    assert found["eager optimizer"].cost.saves_at_most.seconds == optimizer.seconds


def test_a_program_that_we_compile(run: Runner, tmp_path: Path) -> None:
    program = TRAIN.replace("torch.compile(model)", "model")
    (tmp_path / "program.py").write_text(program)
    result = run("run", "-q", "-o", "recording", "--profile", "--profile-steps", "4", "program.py")
    assert (result.exit_code, result.stderr) == (0, "")
    process = _process(tmp_path / "recording")
    window = _window(process)
    assert (window.steps, window.compiles) == (4, 0)
    assert window.lines_problem == (
        None if HAS_LINES else "on Python 3.10 marking them would keep tensors alive"
    )
    assert {part.graph.number for part in window.parts} == {graph.number for graph in process.compiled_graphs}


@nightly
def test_too_few_steps(profiled: Profiled) -> None:
    process = profiled(FORWARD.format(calls=2, end=""))
    assert process.profiling.window is None
    assert process.profiling.problem is not None and "often enough" in process.profiling.problem


@nightly
def test_the_end_of_the_program_cuts_the_window(profiled: Profiled) -> None:
    process = profiled(FORWARD.format(calls=9, end=""), "--profile-steps", "100")
    window = _window(process)
    assert 1 <= window.steps <= 5
    assert window.lines_problem is not None and all(o.place is None for o in window.eager)


def test_nothing_is_compiled(profiled: Profiled) -> None:
    process = profiled("import torch\nprint(torch.ones(2).sum())", "--capture", "none")
    assert process.profiling.problem == "nothing was compiled"


@nightly
def test_a_fork_within_the_window(profiled: Profiled) -> None:
    forking = FORWARD.format(calls=30, end="import os").replace(
        "    y = f(x)\n",
        "    y = f(x)\n    if _ == 12:\n        import os, warnings\n"
        '        warnings.simplefilter("ignore")  # of forks beside threads, from Python 3.12 on\n'
        "        if os.fork() == 0: os._exit(0)\n",
    )
    process = profiled(forking, "--profile-steps", "20")
    assert _window(process).steps >= 1
    assert (
        _window(process).lines_problem
        == "the program forked a process before the step that they are taken in"
    )


@pytest.mark.parametrize("before", [0, 8])
def test_the_programs_own_profiler_is_left_alone(before: int, run: Runner, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROFILES_ITSELF.format(before=before))
    result = run("run", "-q", "-o", "recording", "--profile", "program.py")
    assert (result.exit_code, result.stdout) == (0, "20\n")
    process = _process(tmp_path / "recording")
    if before:
        assert _window(process).steps >= 1
        assert _window(process).lines_problem == "the program uses torch.profiler itself"
    else:
        assert process.profiling.problem == "the program uses torch.profiler itself"


@nightly
def test_killed_while_the_window_is_open(environment: dict[str, str], tmp_path: Path) -> None:
    program = FORWARD.format(calls=8, end="print('ready', flush=True); import time; time.sleep(100)")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", "recording", "--profile", "program.py"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        child = next((tmp_path / "recording").glob("dynamo_calls_*")).name.split("_")[3]
        os.kill(int(child), signal.SIGKILL)
        process.wait(60)
    recorded = _process(tmp_path / "recording")
    assert recorded.profiling.problem == "the process ended abruptly while it was open"
    assert recorded.health.damaged_records == 0


def test_bad_steps(run: Runner) -> None:
    result = run("run", "--profile", "--profile-steps", "0", "x.py")
    assert result.exit_code == 2 and "--profile-steps" in result.stderr


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here")
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_kernels_of_a_gpu(mode: str, profiled: Profiled) -> None:
    program = FORWARD.format(calls=40, end="").replace("torch.ones(64, 64)", "torch.ones(64, 64).cuda()")
    # Without it Inductor advises it on stderr, and does so without us, too.
    program = program.replace("import torch\n", "import torch\ntorch.set_float32_matmul_precision('high')\n")
    program = program.replace("@torch.compile\n", f"@torch.compile(mode={mode!r})\n")
    process = profiled(program, "--profile-steps", "5")
    window = _window(process)
    assert window.kernels is not None
    fused = [kernel for kernel in window.kernels if kernel.name.startswith("triton_")]
    assert [kernel.calls for kernel in fused] == [5]
    assert fused[0].graph is not None and fused[0].graph.number == 1
    assert "relu" in fused[0].nodes and fused[0].places
    launches = sum(part.cuda_graph_launches for part in window.parts)
    assert launches == (5 if mode == "reduce-overhead" else 0)


RAISING_HANDLER = """
import os, signal
import torch, torch.autograd.profiler as profiler
f = torch.compile(lambda x: x + 1, backend="eager")
class Late(Exception): pass
def handler(*_): raise Late
signal.signal(signal.SIGUSR1, handler)
original = profiler.profile.{method}
sent = []
def method(self, *rest):
    if not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGUSR1)
    return original(self, *rest)
profiler.profile.{method} = method
caught = 0
for _ in range(40):
    try:
        f(torch.ones(2))
    except Late:
        caught += 1
print(caught == len(sent), torch._C._autograd._profiler_enabled())
"""


@pytest.mark.parametrize("method", ["_start_trace", "__exit__"])
def test_what_a_signal_handler_raises_within_our_work_is_the_programs(
    method: str, run: Runner, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(RAISING_HANDLER.format(method=method))
    result = run("run", "-q", "--profile", "--profile-steps", "3", "-o", "rec", "program.py")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "True False\n", "")


STOPS_CALLING = """
import time, torch
f = torch.compile(lambda x: x + 1, backend="eager")
x = torch.ones(2)
for _ in range(6):
    f(x)
end = time.monotonic() + 20
while torch._C._autograd._profiler_enabled() and time.monotonic() < end:
    x.add(1)
print(torch._C._autograd._profiler_enabled())
"""


def test_a_graph_that_is_no_longer_called_does_not_leave_the_profiler_running(
    run: Runner, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(STOPS_CALLING)
    result = run("run", "-q", "--profile", "-o", "rec", "program.py")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "False\n", "")
    assert "no longer called" in str(_process(tmp_path / "rec").profiling.problem)
    assert not list((tmp_path / "rec").glob("dynamo_profile_*"))


FORKS_EACH_STEP = """
import os, torch
f = torch.compile(lambda x: x + 1, backend="eager")
for _ in range(30):
    f(torch.ones(2))
    if os.fork() == 0:
        os._exit(0)
    os.wait()
"""


def test_a_program_that_forks_in_each_step_is_soon_left_alone(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(FORKS_EACH_STEP)
    assert run("run", "-q", "--profile", "-o", "rec", "program.py").exit_code == 0
    assert "no whole step" in str(_process(tmp_path / "rec").profiling.problem)
    assert not list((tmp_path / "rec").glob("dynamo_profile_*"))
