"""Where our options end and the program begins."""

import pytest

from dynamo_core.launch.program import Program, ignores_environment, split_command_line

WITH_VALUE = frozenset({"-o", "--output", "--backend"})


@pytest.mark.parametrize(
    ("arguments", "own", "program"),
    [
        (["x.py"], [], Program(("x.py",), True)),
        (["-q", "x.py", "-q", "--backend", "z"], ["-q"], Program(("x.py", "-q", "--backend", "z"), True)),
        (["--backend", "eager", "x.py"], ["--backend", "eager"], Program(("x.py",), True)),
        (["--backend=eager", "x.py"], ["--backend=eager"], Program(("x.py",), True)),
        (["-o", "-m", "x.py"], ["-o", "-m"], Program(("x.py",), True)),
        (["-m", "a.b", "--help"], [], Program(("-m", "a.b", "--help"), True)),
        (["-ma.b", "-c"], [], Program(("-ma.b", "-c"), True)),
        (["-c", "print(1)", "-q"], [], Program(("-c", "print(1)", "-q"), True)),
        (["-"], [], Program(("-",), True)),
        (["-f", "--", "sh", "-c", "exit 3"], ["-f"], Program(("sh", "-c", "exit 3"), False)),
        (["x.py", "--", "y"], [], Program(("x.py", "--", "y"), True)),
        (["-q"], ["-q"], None),
        (["--"], [], None),
        ([], [], None),
        (["--mode", "x"], ["--mode"], Program(("x",), True)),
    ],
)
def test_split(arguments: list[str], own: list[str], program: Program | None) -> None:
    assert split_command_line(arguments, WITH_VALUE) == (own, program)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("dir/train model.py", "1"), "train_model"),
        (("-m", "package.module"), "package.module"),
        (("-mpackage.module", "x"), "package.module"),
        (("-c", "print(1)"), "command"),
        (("-",), "stdin"),
        (("app.pyz",), "app"),
    ],
)
def test_name_is_fit_for_a_file(arguments: tuple[str, ...], name: str) -> None:
    assert Program(arguments, True).name == name


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        (["/usr/bin/python3.11", "-I", "x.py"], "-I"),
        (["python", "-uE", "x.py"], "-E"),
        (["python", "-X", "dev", "-S", "x.py"], "-S"),
        (["python", "-X", "-I", "x.py"], None),
        (["python", "x.py", "-I"], None),
        (["python", "-m", "mod", "-I"], None),
        (["torchrun", "-I"], None),
    ],
)
def test_flags_that_switch_us_off(command: list[str], flag: str | None) -> None:
    assert ignores_environment(command) == flag
