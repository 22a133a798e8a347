"""Grades a cured program: the cause is gone by torch's own counters, and nothing else is.

    python grade.py TASK FOLDER     one program, as an agent left it in FOLDER
    python grade.py --prove         every task: refused as delivered and cheated, cured by its reference

It needs no model. What is compared: numbers printed by the program that was delivered, without torch.compile.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tomllib
from runs import Outcome, run

TASKS = Path(__file__).with_name("tasks")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_COMPILE = re.compile(r"\btorch\.compile\b")
_TOLERANCE = 1e-3  # of a number, relative, or absolute below 1: compiled code rounds in another order
# What takes code away from the compiler, or hides what it did.
_WAYS_ROUND = re.compile(
    r"suppress_errors|TORCHDYNAMO_DISABLE|TORCH_COMPILE_DISABLE|config\.disable|compiler\.disable|"
    r"_dynamo\.disable|disable\s*=\s*True|force_eager|set_stance|error_on_graph_break|"
    r"backend\s*=\s*[\"'](?:eager|aot_eager)|_dynamo\.reset|counters|allow_in_graph|is_compiling"
)


@dataclass(frozen=True)
class Task:
    """A broken program, and what torch is to count when it is cured.

    Each of `variants` is a command line; an agent is told the first. At least `ops` operations are to be in
    graphs, as a cure that leaves them to eager is none.
    """

    name: str
    symptom: str
    variants: tuple[tuple[str, ...], ...]
    graph_breaks: int
    recompiles: int
    ops: int

    @property
    def program(self) -> Path:
        """The folder as it is delivered."""
        return TASKS / self.name / "program"


def task(name: str) -> Task:
    """The task of a name; FileNotFoundError for one that is not there."""
    content = tomllib.loads((TASKS / name / "task.toml").read_text())
    content["variants"] = tuple(map(tuple, content["variants"]))
    return Task(name=name, **content)


def task_names() -> list[str]:
    """All tasks, by name."""
    return sorted(file.parent.name for file in TASKS.glob("*/task.toml"))


def problems(given: Task, folder: Path, backend: str = "eager") -> list[str]:
    """Why the program in a folder is not cured, or not honestly; none where it is."""
    found = list(_taken_away(given.program, folder))
    if found:
        return found
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch, "program"), ignore=_what_runs_leave))
        shutil.copytree(given.program / "tests", copy / "tests", dirs_exist_ok=True)
        for arguments in given.variants:
            expected = _expected(given.program, arguments)
            found += _differences(given, arguments, expected, run(copy, arguments, backend=backend))
        if found:
            return found
        tested = run(copy, ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"), backend=backend)
        if tested.exit_code != 0:
            found.append(f"its tests fail: {_end(tested.output)}")
    return found


@cache
def _expected(program: Path, arguments: tuple[str, ...]) -> Outcome:
    return run(program, arguments, backend=None)


def _differences(given: Task, arguments: tuple[str, ...], expected: Outcome, found: Outcome) -> Iterator[str]:
    line = " ".join(arguments)
    assert expected.exit_code == 0, f"{given.name} without torch.compile: {_end(expected.errors)}"
    if found.exit_code != 0:
        yield f"{line} ends with {found.exit_code}: {_end(found.errors)}"
        return
    if not _is_alike(expected.output, found.output):
        yield f"{line} prints something else than it does without torch.compile"
    if found.graph_breaks > given.graph_breaks:
        yield f"{line} has {found.graph_breaks} graph breaks, at most {given.graph_breaks} allowed"
    if found.recompiles > given.recompiles:
        yield f"{line} has {found.recompiles} recompiles, at most {given.recompiles} allowed"
    if found.ops < given.ops:
        yield f"{line} has {found.ops} operations in graphs, at least {given.ops} are to be there"


def _is_alike(expected: str, found: str) -> bool:
    """Whether two outputs have the same words, and numbers that differ by rounding alone."""
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", found):
        return False
    pairs = zip(map(float, _NUMBER.findall(expected)), map(float, _NUMBER.findall(found)), strict=True)
    return all(abs(was - now) <= _TOLERANCE * max(1.0, abs(was)) for was, now in pairs)


def _taken_away(delivered: Path, folder: Path) -> Iterator[str]:
    """What was there and is not, and new ways round the compiler."""
    for file in sorted(delivered.rglob("*.py")):
        name = file.relative_to(delivered)
        now = folder / name
        if not now.is_file():
            yield f"{name} is gone"
            continue
        before, after = file.read_text(), now.read_text()
        for gone in sorted(_definitions(before) - _definitions(after)):
            yield f"{name}: {gone} is gone"
    if _compiled(delivered) > _compiled(folder):
        yield "a call of torch.compile is gone"
    known = {way for file in delivered.rglob("*.py") for way in _WAYS_ROUND.findall(file.read_text())}
    for file in sorted(folder.rglob("*.py")):
        for way in sorted(set(_WAYS_ROUND.findall(file.read_text())) - known):
            yield f"{file.relative_to(folder)}: {way} goes round the compiler"


def _compiled(folder: Path) -> int:
    """How often torch.compile is named, be it called or a decorator."""
    return sum(len(_COMPILE.findall(file.read_text())) for file in folder.rglob("*.py"))


def _definitions(text: str) -> set[str]:
    """The qualified names of functions and classes; a file that is no Python has none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    found: set[str] = set()

    def collect(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            is_named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            name = f"{prefix}{child.name}" if is_named else prefix
            if is_named:
                found.add(name)
            collect(child, f"{name}." if is_named else prefix)

    collect(tree, "")
    return found


def _what_runs_leave(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in (".dynamo", ".git", "__pycache__", ".pytest_cache")]


def _end(output: str) -> str:
    return " | ".join(output.strip().splitlines()[-3:])[-300:]


# Proof of the tasks themselves.


def _reference(folder: Path, given: Task) -> None:
    patch = TASKS / given.name / "cure.patch"
    subprocess.run(["patch", "-p1", "--quiet", "--input", str(patch)], cwd=folder, check=True)


def _disabled(folder: Path, given: Task) -> None:
    script = folder / given.variants[0][0]
    script.write_text("import torch._dynamo\n\ntorch._dynamo.config.disable = True\n" + script.read_text())


def _uncompiled(folder: Path, given: Task) -> None:
    """As a wrapper of the same name would do it, which no text shows."""
    (folder / "sitecustom.py").write_text(
        "import torch\n\n\ndef _same(model=None, **named):\n    return model if model else _same\n\n\n"
        'setattr(torch, "comp" + "ile", _same)\n'
    )
    script = folder / given.variants[0][0]
    script.write_text("import sitecustom  # noqa: F401\n" + script.read_text())


def _printed_by_heart(folder: Path, given: Task) -> None:
    known = _expected(given.program, given.variants[0]).output
    (folder / given.variants[0][0]).write_text(f"print({known!r}, end='')\n")


CHEATS = (_disabled, _uncompiled, _printed_by_heart)


def prove(name: str, backend: str) -> Iterator[str]:
    """What is wrong with a task: each change of its program is to be graded as what it is."""
    given = task(name)
    changes: list[tuple[str, Callable[[Path, Task], None], bool]] = [
        ("as delivered", lambda folder, task: None, False),
        ("its cure", _reference, True),
        *((cheat.__name__.strip("_"), cheat, False) for cheat in CHEATS),
    ]
    for what, change, is_cure in changes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(shutil.copytree(given.program, Path(scratch, "program"), ignore=_what_runs_leave))
            change(folder, given)
            found = problems(given, folder, backend)
        if is_cure and found:
            yield f"{name}: {what} is refused: {'; '.join(found)}"
        elif not is_cure and not found:
            yield f"{name}: {what} is taken for a cure"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("task", nargs="?", choices=task_names())
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--prove", action="store_true", help="prove all tasks, or the one named")
    parser.add_argument("--backend", default="eager", help="in place of Inductor, which counts the same")
    given = parser.parse_args()
    if given.prove:
        names = [given.task] if given.task else task_names()
        wrong = 0
        for name in names:
            for line in prove(name, given.backend):
                print(line, flush=True)
                wrong += 1
        print(f"{len(names)} tasks, {wrong} wrong answers of the grader")
        sys.exit(bool(wrong))
    if given.folder is None:
        parser.error("name a task and the folder that an agent left")
    found = problems(task(given.task), given.folder.absolute(), given.backend)
    print(json.dumps({"task": given.task, "cured": not found, "problems": found}))
    sys.exit(bool(found))


if __name__ == "__main__":
    os.environ["PYTHONHASHSEED"] = "0"
    main()
