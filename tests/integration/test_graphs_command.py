"""`dynamo graphs` on real recordings: every form of a graph, later stages, and programs that really run."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from conftest import SAMPLES, Result, run_to_end
from recordings import Recordings
from schemas import validate

Runner = Callable[..., Result]


@pytest.fixture(scope="module")
def record(environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`record("train_loop.py", "--backend", "eager")` records a sample script, once."""
    folder = tmp_path_factory.mktemp("graphs")

    def recorded(script: str, *options: str) -> Path:
        path = folder / "-".join([script, *options])
        if not path.exists():
            command = [
                sys.executable,
                "-m",
                "dynamo_cli",
                "run",
                "-q",
                "-o",
                path,
                *options,
                SAMPLES / script,
            ]
            result = run_to_end([str(part) for part in command], environment, folder)
            assert result.exit_code == 0, result.stderr
        return path

    return recorded


def shown(run: Runner, *arguments: str | Path) -> str:
    result = run("graphs", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_toy_as_tables(run: Runner, recordings: Recordings) -> None:
    page = shown(run, recordings.ours("toy"))
    assert page.startswith("3 graphs, 8 ops\n")
    assert re.findall(r"(\d) inputs, (\d) ops?, (\d) output", page) == [
        *(("2", "5", "2"), ("2", "2", "1"), ("2", "1", "1"))
    ]
    assert re.search(r"toy_example\.py:7  x = a / \(torch\.abs\(a\) \+ 1\)\n +call_function +abs_1", page)
    assert re.search(r"call_function +add +operator\.add +\(abs_1, 1\) +f32\[10\] cpu", page)


def test_toy_as_code_and_as_dot(run: Runner, recordings: Recordings) -> None:
    toy = recordings.ours("toy")
    code = shown(run, toy, "--style", "code")
    compile(code, "graphs.py", "exec")
    assert code.count("class GraphModule") == 3
    dot = shown(run, toy, "--style", "dot", "--graph", "1")
    assert dot.count("digraph") == 1
    assert '"abs_1" -> "add";' in dot
    assert "nothing to draw" in shown(run, recordings.plain("recompiling"), "--style", "dot")


def test_forward_and_backward_are_seen_together(run: Runner, record: Callable[..., Path]) -> None:
    page = shown(run, record("train_loop.py"), "--stage", "aot")
    heads = re.findall(r"^# (aot_\w+): graph 1 \[0/0\]", page, re.MULTILINE)
    assert heads == ["aot_joint_graph", "aot_forward_graph", "aot_backward_graph"]
    output_code = shown(run, record("train_loop.py"), "--stage", "output-code")
    assert re.findall(r"^# inductor_output_code, (\w+): graph 1", output_code, re.MULTILINE) == [
        "forward",
        "backward",
    ]
    compile(output_code, "output_code.py", "exec")


def test_a_stage_that_was_not_recorded_is_named(run: Runner, recordings: Recordings) -> None:
    page = shown(run, recordings.ours("toy"), "--stage", "aot-backward", "--stage", "aot-inference")
    assert "aot_inference_graph: graph 1" in page
    assert "aot-backward is not recorded here; of the stages of a compile it has dynamo," in page


@pytest.mark.parametrize(("maker", "program"), [("ours", "toy"), ("plain", "recompiling")])
def test_document_is_what_its_schema_says(
    maker: str, program: str, run: Runner, recordings: Recordings
) -> None:
    path = getattr(recordings, maker)(program)
    told = json.loads(shown(run, path, "--format", "json", "--stage", "all", "--stage", "no-such"))
    validate(told)
    assert {graph["nodes"] is None for graph in told["graphs"]} == {maker == "plain"}
    assert all(graph["code"].startswith("class GraphModule") for graph in told["graphs"])
    assert {stage["stage"] for stage in told["stages"]} >= {"dynamo", "aot-inference", "output-code"}
    assert told["stages_not_recorded"] == ["no-such"]
    validate(json.loads(shown(run, path, "--format", "json", "--runnable", "1")))


@pytest.mark.parametrize(
    ("script", "options", "which", "says"),
    [
        ("train_loop.py", (), ("1",), ""),
        ("train_loop.py", (), ("1", "--backward"), ""),
        ("toy_example.py", ("--backend", "eager"), ("1",), "2 outputs: eager and eager agree"),
    ],
)
def test_a_runnable_graph_runs(
    script: str,
    options: tuple[str, ...],
    which: tuple[str, ...],
    says: str,
    run: Runner,
    record: Callable[..., Path],
    environment: Mapping[str, str],
    tmp_path: Path,
) -> None:
    assert shown(run, record(script, *options), "--runnable", *which, "-o", "graph.py") == ""
    result = run_to_end([sys.executable, "graph.py"], environment, tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == says


def test_a_program_can_be_made_of_the_code_alone(
    run: Runner, recordings: Recordings, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A plain trace without torch's own programs, as other backends leave it."""
    folder = tmp_path / "trace"
    folder.mkdir()
    for stream in recordings.plain("recompiling").iterdir():
        text = stream.read_text().replace("fx_graph_runnable", "fx_graph_elsewhere")
        (folder / stream.name).write_text(text)
    (tmp_path / "graph.py").write_text(shown(run, folder, "--runnable", "1"))
    result = run_to_end([sys.executable, "graph.py", "aot_eager"], environment, tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "eager and aot_eager agree" in result.stdout


def test_each_form_is_saved(run: Runner, recordings: Recordings, tmp_path: Path) -> None:
    page = shown(run, recordings.ours("toy"), "--save", "out", "--stage", "output-code", "--graph", "2")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "graph2_1-0_code.py",
        "graph2_1-0_graph.dot",
        "graph2_1-0_inductor_output_code.py",
        "graph2_1-0_table.txt",
    ]
    assert page.startswith("4 files in out\n")
    assert "call_function  mul_1" in (tmp_path / "out" / "graph2_1-0_table.txt").read_text()


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="nothing is unwritable")
def test_a_folder_that_cannot_be_written_ends_in_a_line(run: Runner, recordings: Recordings) -> None:
    result = run("graphs", recordings.ours("toy"), "--save", "/proc/self/nothing")
    assert result.exit_code == 120
    assert result.stderr.startswith("dynamo: cannot write /proc/self/nothing: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--runnable", "9"), 119, "there is no graph 9"),
        (("--runnable", "1", "--backward"), 119, "no program is recorded for the backward of graph 1"),
        (("--backward",), 2, "--backward goes with --runnable"),
        (("--runnable", "1", "--save", "x"), 2, "--runnable gives one program"),
        (("--style", "dot", "--stage", "aot"), 2, "--style is of Dynamo's graphs"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_line(
    arguments: tuple[str, ...], code: int, says: str, run: Runner, recordings: Recordings
) -> None:
    result = run("graphs", *arguments, recordings.ours("toy"))
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in result.stderr
    assert result.stderr.count("\n") == 1
