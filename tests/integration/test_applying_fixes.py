"""`dynamo fix --apply`: a proven edit in the user's files, or a line that says why it is not made."""

import errno
import json
import os
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.fix.applying import _has_uncommitted_changes
from dynamo_core.fix.changes import patches, source_change
from dynamo_core.fix.proven import save
from dynamo_core.fix.trial import Fix, Fixes, Patch, Trial
from dynamo_core.launch.program import Program
from dynamo_core.remedies.rules import Assignment, Change
from support.answering import Result, answer

BEFORE = (
    "import torch\n\n\ndef f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n\n\nprint(f(1))\n"
)
AFTER = BEFORE.replace(
    "    if x.sum() > 0:\n        x = x + 1\n", "    x = torch.where(x.sum() > 0, x + 1, x)\n"
)
SECOND = BEFORE.replace("print(f(1))", "print(f(2))")
FINDING = Finding(
    *(
        "graph break",
        "graph-break-1",
        "a break",
        "",
        "",
        None,
        "f",
        "",
        None,
        False,
        Cost(),
        Evidence(),
        (),
        (),
    )
)
REMEDY = Remedy("edit", "use torch.where", "dynamo breaks")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program for which fix 1 and 3 are edits, 2 none was found, and 4 is a setting."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(BEFORE)
    file = str(program)
    kept = Trial(REMEDY, "cures", "", 1, 0, (), (Patch(file, BEFORE, AFTER),))
    fixes = [
        Fix(1, FINDING, [kept], kept),
        Fix(2, FINDING),
        Fix(3, FINDING, [], replace(kept, patches=(Patch(file, BEFORE, SECOND),))),
        Fix(4, FINDING, [], replace(kept, remedy=replace(REMEDY, change=Change()), patches=())),
    ]
    save(Fixes("program", (), fixes))
    return tmp_path


@pytest.fixture
def apply(here: Path) -> "partial[Result]":
    return partial(answer, "fix", "--apply", cwd=here)


def test_the_edit_is_made_and_can_be_undone(here: Path, apply: "partial[Result]") -> None:
    program = here / "program.py"
    program.chmod(0o751)
    result = apply("1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "edited program.py" in result.stderr
    assert program.read_text() == AFTER
    assert program.stat().st_mode & 0o777 == 0o751
    undo = (here / ".dynamo" / "undo-fix-1.patch").read_text()
    assert subprocess.run(["patch", "-p1"], input=undo, text=True, check=False).returncode == 0
    assert program.read_text() == BEFORE
    assert [file.name for file in here.iterdir() if file.name.startswith(".program")] == []


def test_an_edit_of_several_files_is_made_in_all_of_them_or_in_none(
    here: Path, apply: "partial[Result]", monkeypatch: pytest.MonkeyPatch
) -> None:
    other = here / "other.py"
    other.write_text(BEFORE)
    patches = tuple(Patch(str(here / name), BEFORE, AFTER) for name in ("program.py", "other.py"))
    save(Fixes("program", (), [Fix(1, FINDING, [], Trial(REMEDY, "cures", "", 1, 0, (), patches))]))
    rename = Path.replace

    def fails_for_the_second(self: Path, target: Path) -> Path:
        if Path(target).name == "other.py":
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fails_for_the_second)
        result = apply("1")
    assert (result.exit_code, "nothing was edited" in result.stderr) == (113, True)
    assert program_texts(here) == [BEFORE, BEFORE]
    assert not list((here / ".dynamo").glob("undo*"))
    assert apply("1").exit_code == 0
    assert program_texts(here) == [AFTER, AFTER]


def program_texts(here: Path) -> list[str]:
    return [(here / name).read_text() for name in ("program.py", "other.py")]


def test_the_way_back_of_an_earlier_fix_stays(here: Path, apply: "partial[Result]") -> None:
    assert apply("1").exit_code == 0
    earlier = (here / ".dynamo" / "undo-fix-1.patch").read_text()
    (here / "program.py").write_text(BEFORE + "# new\n")
    result = apply("1")
    assert (result.exit_code, "undo-fix-1-2.patch" in result.stderr) == (0, True)
    assert (here / ".dynamo" / "undo-fix-1.patch").read_text() == earlier


def test_one_after_the_other_and_beside_changes_elsewhere(here: Path, apply: "partial[Result]") -> None:
    program = here / "program.py"
    program.write_text("# new\n" + BEFORE)
    assert (apply("1").exit_code, apply("3").exit_code) == (0, 0)
    assert program.read_text() == "# new\n" + AFTER.replace("f(1)", "f(2)")


def _with_variable(number: int, sources: str) -> Fix:
    """A fix that sets an environment variable at the top of the program, as `dynamo fix` keeps it."""
    change = Change(environment=(Assignment("TORCH_COMPILE_DYNAMIC_SOURCES", sources),))
    program = Program(("program.py",), is_python=True)
    made = patches(program, [source_change(None, change)])
    kept = Trial(replace(REMEDY, change=change), "cures", "", 1, 0, (), made or ())
    return Fix(number, FINDING, [kept], kept)


@pytest.fixture
def at_one_place(here: Path) -> Path:
    """Fixes that set one variable at the same line; the first two are proven together with each other."""
    program = Program(("program.py",), is_python=True)
    fixes = [_with_variable(1, "x"), _with_variable(2, "y")]
    changes = [source_change(None, fix.kept.remedy.change) for fix in fixes if fix.kept]  # type: ignore[arg-type]
    together = Trial(REMEDY, "cures", "", 2, 0, (), patches(program, changes) or ())
    save(Fixes("program", (), fixes, together), program)
    return here / "program.py"


@pytest.mark.parametrize("order", [("1", "2"), ("2", "1"), ("all",), ("1", "all"), ("2", "all")])
def test_fixes_at_one_place_are_made_as_they_are_made_together(
    order: tuple[str, ...], at_one_place: Path, apply: "partial[Result]"
) -> None:
    assert [apply(number).stderr.count("edited program.py") for number in order] == [1] * len(order)
    text = at_one_place.read_text()
    assert text.count("setdefault('TORCH_COMPILE_DYNAMIC_SOURCES', 'x,y')") == 1
    assert (text.count("import os"), text.count("setdefault")) == (1, 1)


def test_a_fix_that_was_undone_is_made_alone(at_one_place: Path, apply: "partial[Result]") -> None:
    assert apply("1").exit_code == 0
    at_one_place.write_text(BEFORE)
    assert apply("2").exit_code == 0
    assert "setdefault('TORCH_COMPILE_DYNAMIC_SOURCES', 'y')" in at_one_place.read_text()


def test_a_fix_that_is_there_is_not_made_again(at_one_place: Path, apply: "partial[Result]") -> None:
    for number in ("1", "all"):
        assert apply(number).exit_code == 0
        again = apply(number)
        assert (again.exit_code, "has this fix already" in again.stderr) == (113, True)


def test_all_edits_of_an_action_are_made(here: Path, apply: "partial[Result]") -> None:
    program = Program(("program.py",), is_python=True)
    save(Fixes("program", (), [_with_variable(3, "x"), _with_variable(3, "y")]), program)
    assert apply("3").exit_code == 0
    assert "setdefault('TORCH_COMPILE_DYNAMIC_SOURCES', 'x,y')" in (here / "program.py").read_text()


def test_all_is_refused_where_it_was_not_proven_in_one_run(here: Path, apply: "partial[Result]") -> None:
    result = apply("all")
    assert (result.exit_code, "--apply one of 1, 3" in result.stderr) == (113, True)
    assert (here / "program.py").read_text() == BEFORE


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("2", "action 2 has no proven fix of its own"),
        ("4", "fix 4 is no edit of a file"),
        ("5", "there is no fix 5: `dynamo fix` had 1, 2, 3, 4"),
    ],
)
def test_what_is_no_edit_is_said(number: str, says: str, here: Path, apply: "partial[Result]") -> None:
    result = apply(number)
    assert (result.exit_code, result.stderr.count("\n")) == (113, 1)
    assert says in result.stderr
    assert (here / "program.py").read_text() == BEFORE


def test_an_edit_that_no_longer_fits_is_not_made(here: Path, apply: "partial[Result]") -> None:
    changed = BEFORE.replace("x + 1", "x + 2")
    (here / "program.py").write_text(changed)
    result = apply("1")
    assert (result.exit_code, "has changed since the fix was proven" in result.stderr) == (113, True)
    assert (here / "program.py").read_text() == changed


def test_a_file_with_uncommitted_changes_is_left_alone(here: Path, apply: "partial[Result]") -> None:
    git = partial(subprocess.run, check=True, cwd=here, capture_output=True)
    git(["git", "init", "-q"])
    git(["git", "add", "program.py"])
    git(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"])
    program = here / "program.py"
    program.write_text("# mine\n" + BEFORE)
    result = apply("1")
    assert (result.exit_code, "not committed" in result.stderr) == (113, True)
    assert program.read_text() == "# mine\n" + BEFORE
    link = here / "linked.py"
    link.symlink_to(program)
    assert _has_uncommitted_changes(link)
    git(["git", "checkout", "-q", "program.py"])
    assert (apply("1").exit_code, apply("3").exit_code) == (0, 0)  # the first one's edit is ours


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_read_only_file_is_left_alone(here: Path, apply: "partial[Result]") -> None:
    (here / "program.py").chmod(0o444)
    result = apply("1")
    assert (result.exit_code, "read-only" in result.stderr) == (113, True)


def test_fixes_that_were_not_proven_here_are_not_obeyed(here: Path, apply: "partial[Result]") -> None:
    folder = here / ".dynamo" / "last-fix"
    shutil.copytree(folder, here / "copy")
    shutil.rmtree(folder)
    (here / "copy").rename(folder)
    result = apply("1")
    assert (result.exit_code, "was not made here" in result.stderr) == (113, True)
    assert (here / "program.py").read_text() == BEFORE


@pytest.mark.parametrize("content", ["", "[]", "{", json.dumps({"mark": 1}), "\x00"])
def test_damaged_fixes_are_said(content: str, here: Path, apply: "partial[Result]") -> None:
    (here / ".dynamo" / "last-fix" / "fixes.json").write_text(content)
    result = apply("1")
    assert (result.exit_code, "run `dynamo fix` again" in result.stderr) == (113, True)


def test_without_an_earlier_fix_there_is_nothing_to_apply(here: Path, apply: "partial[Result]") -> None:
    shutil.rmtree(here / ".dynamo")
    result = apply("1")
    assert (result.exit_code, "run `dynamo fix` first" in result.stderr) == (113, True)
