"""What Dynamo traced, of programs whose functions it inlines, and that they end as under plain Python."""

import sys
from pathlib import Path

import pytest

from dynamo_core.analysis.time.compiles import tracing
from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.model import Process
from dynamo_core.recording.read import read
from dynamo_reporters.profile.compile_time import CONTENTS
from launching import ForkingPython
from running import PROGRAMS, situations_of

PROGRAM = "inlining.py"
HELPERS = ("leaf", "middle")
# A program that compiles for itself is only watched, the others are captured: not in one process.
ALONE = ("compiled_as_a_whole", "breaks_where_it_must_not")
TOGETHER = [name for name in situations_of(PROGRAM) if name not in (*HELPERS, *ALONE)]


def recorded(python: ForkingPython, folder: Path, *names: str) -> Process:
    """The recording of these situations, which end as under plain Python."""
    program = (PROGRAMS / PROGRAM, *names)
    options = ("--backend", "eager", "-o", folder / "recording")
    assert python.run("-m", "dynamo_cli", "run", "-q", *options, *program, cwd=folder) == python.run(
        *program, cwd=folder
    )
    (process,) = read(folder / "recording", CONTENTS).processes
    assert process.health.failed_probes == {}
    return process


@pytest.fixture(scope="module")
def process(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Process:
    return recorded(python, tmp_path_factory.mktemp("inlining"), *TOGETHER)


def test_the_functions_are_named_with_their_lines(process: Process) -> None:
    traced = tracing(process)
    assert traced is not None
    by_name = {function.name.rpartition(".")[2]: function for function in traced.functions}
    lines = (PROGRAMS / PROGRAM).read_text(encoding="utf-8").splitlines()
    for name in ("leaf", "middle", "forward", "_breaks", "_raises", "_parts", "_down"):
        assert f"def {name}(" in lines[by_name[name].place.line - 1]
    assert by_name["_down"].calls > 9
    if sys.version_info >= (3, 11):
        assert "Net.forward" in {function.name for function in traced.functions}


def test_the_loop_that_a_graph_comes_from_is_named(process: Process) -> None:
    lines = (PROGRAMS / PROGRAM).read_text(encoding="utf-8").splitlines()
    inlined = [graph for graph in process.graphs if graph.ops == 3 * 40 + 2]  # `middle` calls it twice
    assert inlined
    for graph in inlined:
        assert graph.loop is not None
        assert (graph.loop.ops, graph.loop.times, graph.loop.is_loop) == (120, 60, True)
        assert lines[graph.loop.place.line - 1].strip() == graph.loop.text == "for _ in range(20):"
    assert [graph.ops for graph in process.graphs if graph.loop and (graph.ops or 0) < 100] == []


def test_an_attempt_is_as_long_as_torch_says_it_traced(process: Process) -> None:
    timed = [
        (compile_id, span.total_ns / 1e9)
        for tree in spans(process.phases)
        for compile_id in [tree.phase.compile_id]
        for span in _of_name(tree, "bytecode_tracing")
    ]
    own: dict[object, float] = {}
    for function in process.tracing:
        key = (function.compile_id, function.attempt)
        own[key] = own.get(key, 0.0) + function.exclusive_seconds
    assert len(timed) == len(own)
    torchs = sum(seconds for _, seconds in timed)
    assert sum(own.values()) == pytest.approx(torchs, rel=0.2)
    assert sum(own.values()) <= torchs


def _of_name(tree: Span, name: str) -> list[Span]:
    return [span for span in tree.walk() if span.phase.name == name]


def test_an_attempt_that_broke_in_an_inlined_function_is_told_too(process: Process) -> None:
    broken = {f.compile_id for f in process.tracing if f.attempt == 1}
    (compile_id, *_) = sorted(broken)
    of_first = [f.name for f in process.tracing if f.compile_id == compile_id and f.attempt == 0]
    assert "_breaks" in of_first


@pytest.mark.parametrize("name", ALONE)
def test_a_program_that_compiles_for_itself_ends_as_it_would(
    name: str, python: ForkingPython, tmp_path: Path
) -> None:
    process = recorded(python, tmp_path, name)
    assert "leaf" in {function.name for function in process.tracing}
