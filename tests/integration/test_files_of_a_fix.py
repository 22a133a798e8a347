"""Which files an edit is made in, and what tells that an earlier trial still holds."""

import os
from pathlib import Path

import pytest

from dynamo_core.fix import known_trials
from dynamo_core.fix.changes import LineEdit, SourceChange, patches
from dynamo_core.fix.trial import can_be_edited
from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.shared.settings import Settings


def line_replaced(text: str, line: int) -> str:
    lines = text.split("\n")
    lines[line - 1] = "pass"
    return "\n".join(lines)


def test_a_file_that_goes_by_two_names_is_edited_once(tmp_path: Path) -> None:
    script, link = tmp_path / "program.py", tmp_path / "link.py"
    script.write_text("a\nb\nc\n")
    link.symlink_to(script)
    edits = tuple(LineEdit(str(file), line, line_replaced) for file, line in ((script, 1), (link, 3)))
    made = patches(Program((str(link),), is_python=True), [SourceChange(edits)])
    assert made is not None
    assert [(each.file, each.after) for each in made] == [(os.path.realpath(script), "pass\nb\npass\n")]


def test_what_changes_the_callers_is_made_only_where_all_of_them_are_known(tmp_path: Path) -> None:
    script, module = tmp_path / "program.py", tmp_path / "layer.py"
    for file in (script, module):
        file.write_text("a\n")
    program = Program((str(script),), is_python=True)
    for file, changes_callers, is_made in (
        (script, True, True),
        (module, True, False),
        (module, False, True),
    ):
        edit = LineEdit(str(file), 1, line_replaced, changes_callers)
        assert (patches(program, [SourceChange((edit,))]) is not None) is is_made


def test_a_library_in_an_environment_beside_the_script_is_not_edited(tmp_path: Path) -> None:
    script, library = tmp_path / "program.py", tmp_path / ".venv/lib/python3.12/site-packages/lib.py"
    library.parent.mkdir(parents=True)
    for file in (script, library):
        file.touch()
    program = Program((str(script),), is_python=True)
    assert can_be_edited(program, str(script))
    assert not can_be_edited(program, str(library))
    assert not can_be_edited(program, "program.py")


def test_a_folder_with_too_much_in_it_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").touch()
    os.mkfifo(tmp_path / "pipe.py")  # reading which would not end
    request = Request(Program((str(tmp_path / "program.py"),), is_python=True), Settings("", "eager"))
    digest = known_trials._digest_of_sources(request)
    assert digest is not None
    (tmp_path / "program.py").write_text("pass")
    assert known_trials._digest_of_sources(request) != digest
    monkeypatch.setattr(known_trials, "_MOST_ENTRIES", 1)
    assert known_trials._digest_of_sources(request) is None
