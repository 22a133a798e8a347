"""A program by its command line: what it is called, what Python finds first, and what cannot be started."""

import os
import sys
from pathlib import Path

import pytest

from dynamo_core.launch.program import Program, check_notebook
from dynamo_core.shared.errors import ProgramNotExecutable, ProgramNotFound


def python(*arguments: str) -> Program:
    return Program(arguments, is_python=True)


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (python("scripts/train.py", "--fast"), "train"),
        (python("train.pyz"), "train"),
        (python("train.ipynb", "--fast"), "train"),
        (python("train.v2"), "train.v2"),
        (python("-m", "package.train"), "package.train"),
        (python("-mtrain"), "train"),
        (python("-m"), "module"),
        (python("-"), "stdin"),
        (python("-c", "print(1)"), "command"),
        (Program(("/usr/bin/torchrun", "x.py"), is_python=False), "torchrun"),
        (Program(("train.py",), is_python=False), "train"),
        (python("my train (2).py"), "my_train_2"),
        (python("???.py"), "program"),
    ],
)
def test_a_program_is_called_as_its_file_its_module_or_how_it_is_given(program: Program, name: str) -> None:
    assert program.name == name


def test_a_notebook_is_run_by_ipython_which_takes_none_of_its_arguments() -> None:
    command = python("train.ipynb", "--pdb").command("python3")
    assert command == ["python3", "-m", "IPython", "--", "train.ipynb", "--pdb"]
    assert python("train.py", "a.ipynb").command("python3") == ["python3", "train.py", "a.ipynb"]
    assert not python("-m", "train.ipynb").is_notebook


def test_a_python_without_ipython_runs_no_notebook(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(
        ProgramNotExecutable, match=r"^a\.ipynb .* no IPython .*-m pip install ipython nbformat$"
    ):
        check_notebook("a.ipynb", str(bare))


@pytest.mark.parametrize(
    "program",
    [
        python("-c", "print(1)"),
        python("-"),
        python("-m", "no.such.module"),
        Program(("no-such-command",), is_python=False),
        Program(("-odd",), is_python=False),
    ],
)
def test_what_only_the_start_can_tell_is_not_checked(program: Program) -> None:
    program.check()


def test_a_script_that_is_not_there_or_is_a_mere_folder_is_told_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(ProgramNotFound, match=r"^no such file: .*/none\.py$"):
        python(str(tmp_path / "none.py")).check()
    with pytest.raises(ProgramNotFound, match=r"this dynamo is for torch\.compile, not NVIDIA Dynamo$"):
        python("in=http").check()
    with pytest.raises(ProgramNotExecutable, match=r"is a folder without a __main__\.py"):
        python(str(tmp_path)).check()
    (tmp_path / "__main__.py").touch()
    python(str(tmp_path)).check()
    python(str(tmp_path / "__main__.py")).check()


def test_python_finds_what_lies_beside_a_script_first(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.touch()
    assert python(str(script)).import_path() == [os.path.realpath(tmp_path)]
    assert python(str(tmp_path)).import_path() == [os.path.realpath(tmp_path)], "a folder with a __main__.py"
    link = tmp_path / "elsewhere" / "train.py"
    link.parent.mkdir()
    link.symlink_to(script)
    assert python(str(link)).import_path() == [os.path.realpath(tmp_path)], "where the script itself lies"
    for other in (python("-m", "train"), python("-c", "1"), Program((str(script),), is_python=False)):
        assert other.import_path() == [os.getcwd()]
