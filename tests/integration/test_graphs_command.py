"""`dynamo graphs` on real recordings: every form of a graph, later stages, and programs that really run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from launching import ForkingPython
from recordings import SAMPLES, Recordings
from support.answering import Result
from support.cases import nightly

Runner = Callable[..., Result]


@pytest.fixture(scope="module")
def record(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`record("train_loop.py", "--backend", "eager")` records a sample script, once."""
    folder = tmp_path_factory.mktemp("graphs")

    def recorded(script: str, *options: str) -> Path:
        path = folder / "-".join([script, *options])
        if not path.exists():
            command = ("-m", "dynamo_cli", "run", "-q", "-o", path, *options, SAMPLES / script)
            result = python.run(*command, cwd=folder)
            assert result.exit_code == 0, result.stderr
        return path

    return recorded


def shown(read: Runner, *arguments: str | Path) -> str:
    result = read("graphs", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


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
    read: Runner,
    record: Callable[..., Path],
    python: ForkingPython,
    tmp_path: Path,
) -> None:
    assert shown(read, record(script, *options), "--runnable", *which, "-o", "graph.py") == ""
    result = python.run("graph.py", cwd=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == says


@nightly
def test_a_program_can_be_made_of_the_code_alone(
    read: Runner, recordings: Recordings, python: ForkingPython, tmp_path: Path
) -> None:
    """A plain trace without torch's own programs, as other backends leave it."""
    folder = tmp_path / "trace"
    folder.mkdir()
    for stream in recordings.plain("recompiling").iterdir():
        text = stream.read_text().replace("fx_graph_runnable", "fx_graph_elsewhere")
        (folder / stream.name).write_text(text)
    (tmp_path / "graph.py").write_text(shown(read, folder, "--runnable", "1"))
    result = python.run("graph.py", "aot_eager", cwd=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "eager and aot_eager agree" in result.stdout
