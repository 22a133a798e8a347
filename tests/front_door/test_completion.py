"""What completion offers for a line; `tests/integration/test_shell_completion.py` has shells show it."""

import shutil
from pathlib import Path

import pytest

from dynamo_cli.completion_command import SCRIPTS
from support.answering import answer
from support.stored import stored


def offered(shell: str, *words: str, cwd: Path) -> list[str]:
    result = answer("completion", shell, "--", *words, cwd=cwd)
    assert (result.exit_code, result.stderr) == (0, "")
    return [line.partition("\t")[0] for line in result.stdout.splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train_it.py").write_text("")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "modul_e.py").write_text("")
    shutil.copytree(stored("toy"), tmp_path / ".dynamo" / "toy-1")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["expl"], ["explain"]),
        (["help", "brea"], ["breaks"]),
        (["run", ""], [":files"]),
        (["run", "--backe"], ["--backend"]),
        (["run", "train_it.py", "--backe"], [":files"]),
        (["run", "--backend", "eager", "-q", "train_it.py", ""], [":files"]),
        (["run", "-m", "package.mod"], ["package.modul_e"]),
        (["run", "-m", "package.modul_e", ""], [":files"]),
        (["run", "--", ""], [":commands"]),
        (["run", "--", "torchrun", ""], [":files"]),
        (["run", "--backend", "aot"], ["aot_eager", ":files"]),
        (["run", "--backend=aot"], ["--backend=aot_eager", ":files"]),
        (["run", "--backend", "eager,cuda"], ["eager,cudagraphs"]),
        (["run", "--backend", "inductor:red"], ["inductor:reduce-overhead", ":files"]),
        (["run", "--capture", "mod"], ["modules"]),
        (["run", "-o", ""], [":files"]),
        (["explain", ".dyn"], [".dynamo/toy-1"]),
        (["explain", ""], [".dynamo/toy-1", ":files"]),
        (["explain", ".dynamo/toy-1", "--form"], ["--format"]),
        (["explain", "--format", "js"], ["json"]),
        (["explain", "train_it.py", "--form"], [":files"]),
        (["graphs", "--stage", "post"], ["post-grad"]),
        (["graphs", ".dynamo/toy-1", "--frame", ""], ["toy_example"]),
        (["graphs", "--graph", ""], ["1", "2", "3"]),
        (["graphs", "--save", ""], [":folders"]),
        (["profile", "--step", "toy"], ["toy_example"]),
        (["diff", ".dyn"], [".dynamo/toy-1", ":files"]),
        (["diff", ".dynamo/toy-1", ".dynamo/toy-1", ""], []),
        (["backends", "ind"], ["inductor"]),
        (["completion", "z"], ["zsh"]),
        (["nosuch", ""], []),
    ],
)
def test_what_fits_the_last_word(words: list[str], expected: list[str], project: Path) -> None:
    assert offered("zsh", *words, cwd=project) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dynamo run --backend=aot", ["aot_eager", ":files"]),
        ("dynamo run --backend inductor:max-autotune-", ["max-autotune-no-cudagraphs", ":files"]),
        ("dynamo run 'a b.py' ", [":files"]),
        ("dynamo run 'a b", [":files"]),
        ("dynamo  graphs --graph ", ["1", "2", "3"]),
    ],
)
def test_bash_gives_the_line_and_gets_the_piece_behind_its_last_break(
    line: str, expected: list[str], project: Path
) -> None:
    assert offered("bash", line, cwd=project) == expected


def test_without_a_recording_there_is_nothing_of_it_to_offer(tmp_path: Path) -> None:
    assert offered("fish", "graphs", "--frame", "", cwd=tmp_path) == []
    assert offered("fish", "explain", "", cwd=tmp_path) == [":files"]


def test_descriptions_are_short_and_the_script_of_each_shell_is_printed(tmp_path: Path) -> None:
    told = answer("completion", "zsh", "--", "explain", "--comp", cwd=tmp_path).stdout.splitlines()
    assert told[0] == "--compile-id\tOnly this compile, or every compile of frame 0"
    for shell, script in SCRIPTS.items():
        assert answer("completion", shell).stdout == script
