"""The examples of README.md and docs/: found, executed, and written anew.

    ./dev examples [PAGE.md …]     # writes the output of every example, or of a page's, as it is now

An example is a block of `console` behind a comment that says how it is executed:

    <!-- example recording=toy -->      each `$ dynamo …` in this process, on a stored recording
    <!-- example run -->                in a shell, in a folder with the sample scripts

`show=` picks lines of the last command's output: `show=1-8,12-`, or `show="Wall time:"+5` for the first line
with these words and five more. A block of `sh` shows commands without output: each is parsed; what only reads
is executed on the stored recording `toy`, and what runs a program with one that needs no torch, but for
those behind `<!-- not executed: why -->`. docs/notebook.ipynb is executed by `doc_notebook.py`.
"""

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from store import with_other_paths
from support.answering import answer
from support.stored import stored

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
_PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "doc_programs"
_WIDTH = 110
_MADE_IN = (
    b"/home/user/project/tests/integration/programs",
    b"/home/user/project",
    b"tests/integration/programs",
)
_ESCAPES = re.compile(r"\x1b(?:\[[\d;]*m|\]8;[^\x1b]*\x1b\\)")
_BLOCK = re.compile(
    r"^(?:<!-- (?P<comment>(?:example|not executed)[^\n]*) -->\n)?"
    r"```(?P<language>console|sh|python)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# What is another figure in each run: times, and what is reckoned from them.
_VARIES = re.compile(
    r"\d[\d,.]* ?(?:ns|µs|ms|s|kB|MB|GB)\b|\d[\d.]*%|(?<=[a-z]-)\d{8}-\d{6}|[▏▎▍▌▋▊▉█]+|(?<=PID )\d+"
    r"|\d\d:\d\d:\d\d|\d[\d,.]*(?= ?times ?as ?fast)| +"
)
READING = ("explain", "graphs", "bytecode", "guards", "breaks", "recompiles", "ops", "profile", "ls", "diff")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    comment: str
    text: str
    start: int
    end: int

    @property
    def commands(self) -> list[str]:
        """What is typed."""
        if self.language == "console":
            return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.partition("  #")[0].strip() for line in lines if not line.startswith("#")]

    @property
    def output(self) -> str:
        """What is shown as the answer to the last command."""
        lines = self.text.splitlines(keepends=True)
        last = max(number for number, line in enumerate(lines) if line.startswith("$ "))
        return "".join(lines[last + 1 :])

    @property
    def recording(self) -> str | None:
        """The stored recording that it is executed on."""
        found = re.search(r"recording=(\w+)", self.comment)
        return found and found[1]

    @property
    def is_executed_by_a_shell(self) -> bool:
        return self.comment.startswith("example run")

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def blocks() -> Iterator[Block]:
    """Every block of commands in the documentation."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in _BLOCK.finditer(text):
            line = text.count("\n", 0, found.start("text"))
            start, end = found.span("text")
            yield Block(page, line, found["language"], found["comment"] or "", found["text"], start, end)


def executed(block: Block) -> str:
    """The output of an example as it is now."""
    if block.recording:
        return _shown(block, _answered(block, laid_out(block.recording)))
    with tempfile.TemporaryDirectory(prefix="dynamo_doc_") as folder:
        return _shown(block, in_a_shell(block.commands, Path(folder), {}))


def _answered(block: Block, folder: Path) -> str:
    """What the last command prints on a terminal."""
    output = ""
    for command in block.commands:
        arguments = shlex.split(command)
        assert arguments[0] == "dynamo", f"{block}: {command}"
        result = answer(*arguments[1:], cwd=folder, env={"FORCE_COLOR": "1", "COLUMNS": str(_WIDTH)})
        assert result.exit_code == 0, f"{block}: {command}: {result.stderr}"
        output = result.stdout
    return _ESCAPES.sub("", output).replace(f"{folder}/", "")


@functools.cache
def laid_out(newest: str) -> Path:
    """A folder with a recording as `dynamo run train.py` would leave it, and two, `before` and `after`."""
    own = tempfile.TemporaryDirectory(prefix="dynamo_doc_")
    _kept.append(own)
    folder = Path(own.name)
    for name, path in (
        (newest, ".dynamo/train-20260101-120000"),
        ("toy", "before"),
        ("recompiling", "after"),
    ):
        (folder / path).mkdir(parents=True)
        for file in (each for each in stored(name).rglob("*") if each.is_file()):
            # As if made in this folder, so that places are relative to it.
            copy = folder / path / file.relative_to(stored(name))
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(with_other_paths(file, [(old, bytes(folder)) for old in _MADE_IN]))
    return folder


_kept: list[tempfile.TemporaryDirectory[str]] = []  # each goes with the process


def _compiles_itself(command: str, folder: Path) -> bool:
    """Whether a program that a command names calls torch.compile: a backend for it would have no effect."""
    programs = (folder / word for word in command.split() if word.endswith(".py"))
    return any("torch.compile(" in file.read_text() for file in programs if file.exists())


def in_a_shell(commands: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """The output, both streams, of the last of these commands. Captured programs use the backend eager."""
    shutil.copytree(REPOSITORY / "sample_scripts", folder / "sample_scripts")
    shutil.copytree(_PROGRAMS, folder, dirs_exist_ok=True)
    tools = folder / ".tools"
    tools.mkdir()
    for name, module in (
        ("dynamo", "dynamo_cli"),
        ("pytest", "pytest"),
        ("torchrun", "torch.distributed.run"),
    ):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (tools / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAMO_", "TORCH"))}
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), kept["PATH"]])
    settings = {
        "PATH": path,
        "NO_COLOR": "1",
        "COLUMNS": str(_WIDTH),
        "OMP_NUM_THREADS": "1",
    }
    output = ""
    for command in commands:
        backend = {} if _compiles_itself(command, folder) else {"DYNAMO_BACKEND": "eager"}
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=kept | settings | backend | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        output = done.stdout
        assert "Traceback" not in output and done.returncode not in (1, 2, 125, 127), f"{command}\n{output}"
    return output.replace(f"{folder}/", "")


def _shown(block: Block, output: str) -> str:
    lines = [_cut(line.rstrip()) for line in output.strip("\n").splitlines()]
    chosen = re.search(r"show=(\S*\"[^\"]*\"\S*|\S+)", block.comment)
    if not chosen:
        return "".join(f"{line}\n" for line in lines)
    kept: list[int] = []
    for part in re.findall(r'"[^"]*"(?:\+\d+)?|[\d-]+', chosen[1]):
        kept += range(*_range(part, lines))
    shown, before = "", 0
    for number in kept:
        shown += ("…\n" if number > before else "") + lines[number] + "\n"
        before = number + 1
    return shown + ("…\n" if before < len(lines) else "")


def _range(part: str, lines: list[str]) -> tuple[int, int]:
    words = re.fullmatch(r'"([^"]*)"(?:\+(\d+))?', part)
    if words:
        first = next((number for number, line in enumerate(lines) if words[1] in line), None)
        assert first is not None, f"{words[1]!r} is not in:\n" + "\n".join(lines)
        return first, min(first + int(words[2] or 0) + 1, len(lines))
    first_line, dash, last_line = part.partition("-")
    last = int(last_line or len(lines)) if dash else int(first_line)
    return int(first_line) - 1, min(last, len(lines))


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 2].rstrip() + " …"


def comparable(output: str) -> str:
    """Without what is another figure in each run, and the blanks that align it."""
    return _VARIES.sub("", output)


def replace_examples(pages: Sequence[str]) -> None:
    """Put the output of each example as it is now into its page, where it says something else.

    `pages` are the names of the pages that are meant; none means all.
    """
    changed: dict[Path, str] = {}
    for block in reversed(list(blocks())):
        if not (block.language == "console" and block.comment):
            continue
        if pages and block.page.name not in pages:
            continue
        output = executed(block)
        same = (
            comparable(output) == comparable(block.output)
            if block.is_executed_by_a_shell
            else output == block.output
        )
        if same:
            continue
        typed = "".join(f"$ {command}\n" for command in block.commands)
        text = changed.get(block.page, block.page.read_text(encoding="utf-8"))
        changed[block.page] = text[: block.start] + typed + output + text[block.end :]
        print(f"{block}: written anew")
    for page, text in changed.items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    replace_examples(sys.argv[1:])
