"""What completion offers for a line; `tests/integration/test_shell_completion.py` has shells show it."""

import shlex
import shutil
from pathlib import Path

import pytest

from support.answering import answer
from support.stored import stored


def offered(shell: str, *words: str, cwd: Path) -> list[str]:
    """The values that a shell gets for the last word; `:file` and `:dir` where it adds its own."""
    typed = shlex.join(["dynamo", *words[:-1]]) + f" {words[-1]}"
    variables = {
        "_DYNAMO_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words)),
    }
    result = answer(cwd=cwd, env=variables)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines() if result.stdout.strip() else []
    if shell == "zsh":  # a line each for type, value and description
        lines = [f"{kind},{value}" for kind, value in zip(lines[::3], lines[1::3], strict=True)]
    found = [line.partition("\t")[0].partition(",") for line in lines]
    return [value if kind == "plain" else f":{kind}" for kind, _, value in found]


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
        (["run", ""], [":file"]),
        (["run", "--backe"], ["--backend"]),
        (["run", "train_it.py", "--backe"], [":file"]),
        (["run", "--backend", "eager", "-q", "train_it.py", ""], [":file"]),
        (["run", "-m", "package.mod"], ["package.modul_e"]),
        (["run", "-m", "package.modul_e", ""], [":file"]),
        (["run", "--", ""], [":file"]),
        (["run", "--", "torchrun", ""], [":file"]),
        (["run", "--backend", "aot"], [":file", "aot_eager"]),
        (["run", "--backend=aot"], [":file", "--backend=aot_eager"]),
        (["run", "--backend", "eager,cuda"], ["eager,cudagraphs"]),
        (["run", "--backend", "inductor:red"], [":file", "inductor:reduce-overhead"]),
        (["run", "--capture", "mod"], ["modules"]),
        (["run", "-o", ""], [":file"]),
        (["explain", ".dyn"], [".dynamo/toy-1"]),
        (["explain", ""], [":file", ".dynamo/toy-1"]),
        (["explain", ".dynamo/toy-1", "--form"], ["--format"]),
        (["explain", "--format", "js"], ["json"]),
        (["explain", "train_it.py", "--form"], [":file"]),
        (["graphs", "--stage", "post"], ["post-grad"]),
        (["graphs", ".dynamo/toy-1", "--frame", ""], ["toy_example"]),
        (["graphs", "--graph", ""], ["1", "2", "3"]),
        (["graphs", "--save", ""], [":dir"]),
        (["diff", ".dyn"], [".dynamo/toy-1"]),
        (["diff", ".dynamo/toy-1", ".dynamo/toy-1", ""], []),
        (["backends", "ind"], ["inductor"]),
        (["nosuch", "expl"], ["explain"]),
        (["run", "--verify", ""], [":file", "report", "error", "bitwise", "off"]),
        (["backends", "--python", ""], [":file"]),
    ],
)
def test_what_fits_the_last_word(words: list[str], expected: list[str], project: Path) -> None:
    assert offered("zsh", *words, cwd=project) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "--backend", "=", "aot"], [":file", "aot_eager"]),
        (
            ["run", "--backend", "="],
            [":file", "inductor", "eager", "aot_eager", "cudagraphs", "ofi", "autotuned"],
        ),
        (["run", "--backend", "inductor", ":", "max-autotune-"], [":file", "max-autotune-no-cudagraphs"]),
        (["graphs", "--graph", ""], ["1", "2", "3"]),
    ],
)
def test_bash_gives_the_pieces_of_a_word_and_gets_the_last_one(
    words: list[str], expected: list[str], project: Path
) -> None:
    assert offered("bash", *words, cwd=project) == expected


def test_without_a_recording_there_is_nothing_of_it_to_offer(tmp_path: Path) -> None:
    assert offered("fish", "graphs", "--frame", "", cwd=tmp_path) == []
    assert offered("fish", "explain", "", cwd=tmp_path) == [":file"]


def test_nothing_is_fetched_or_refused_while_a_shell_asks(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.dynamo]\nbakcend = 1\n")
    assert offered("fish", "diff", "s3://bucket/a", "", cwd=tmp_path) == [":file"]
    assert offered("zsh", "run", "--verify", "error", "", cwd=tmp_path) == [":file"]
