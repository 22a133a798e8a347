"""The program that the user named, in any form that `python` takes or as another command, and its Python."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..shared.errors import ProgramNotExecutable, ProgramNotFound
from ..shared.quick_dataclass import dataclass
from ..shared.similar_paths import did_you_mean_path
from ..shared.text import file_name

_MODULE_OR_CODE = ("-m", "-c")  # also with what they name attached: -mpackage
NOTEBOOK = ".ipynb"
_FOR_NOTEBOOKS = ("IPython", "nbformat")  # nbformat is what IPython reads notebooks with


@dataclass(frozen=True)
class Program:
    """What to run. `arguments` are those of `python` if `is_python`, else a whole command."""

    arguments: tuple[str, ...]
    is_python: bool

    @property
    def name(self) -> str:
        """A short name for files and titles: the script's stem, the module, or the command."""
        first = self.arguments[0]
        if self.is_python and first.startswith("-m"):
            return file_name(first[2:] or "".join(self.arguments[1:2]) or "module") or "program"
        if self.is_python and first.startswith("-"):
            return "stdin" if first == "-" else "command"
        path = Path(first)
        has_known_suffix = path.suffix in (".py", ".pyz", ".pyw", NOTEBOOK)
        return file_name(path.stem if has_known_suffix else path.resolve().name) or "program"

    @property
    def is_notebook(self) -> bool:
        """Whether it is a Jupyter notebook, whose code cells IPython runs in one process."""
        first = self.arguments[0]
        return self.is_python and not first.startswith("-") and first.endswith(NOTEBOOK)

    def check(self) -> None:
        """Raise ProgramNotFound or ProgramNotExecutable where that is known before the start."""
        first = self.arguments[0]
        if not self.is_python or first.startswith("-"):
            return
        if not os.path.exists(first):
            is_nvidias = re.match("(in|out)=", first) is not None
            hint = (
                "this dynamo is for torch.compile, not NVIDIA Dynamo"
                if is_nvidias
                else did_you_mean_path(first)
            )
            raise ProgramNotFound(f"no such file: {first}" + (f"; {hint}" if hint else ""))
        if os.path.isdir(first) and not os.path.exists(os.path.join(first, "__main__.py")):
            raise ProgramNotExecutable(f"{first} is a folder without a __main__.py")
        if not os.access(first, os.R_OK):
            raise ProgramNotExecutable(f"cannot read {first}: permission denied")

    def import_path(self) -> list[str]:
        """The entries that Python puts first on `sys.path` for this program."""
        if self.is_python and not self.arguments[0].startswith("-"):
            path = os.path.realpath(self.arguments[0])
            return [path if os.path.isdir(path) else os.path.dirname(path)]
        return [os.getcwd()]

    def command(self, python: str) -> list[str]:
        """The whole command line, as the program sees it in its arguments."""
        if self.is_notebook:  # behind `--` there are no options of IPython's
            return [python, "-m", "IPython", "--", *self.arguments]
        return [python, *self.arguments] if self.is_python else list(self.arguments)

    def executable(self, python: str) -> str:
        """The file to execute, looked up on PATH; ProgramNotFound or ProgramNotExecutable."""
        if self.is_python:
            return python
        executable = shutil.which(self.arguments[0])
        if executable is None:
            if os.path.exists(self.arguments[0]):
                hint = "; leave out `--` to run it as a script" if self.arguments[0].endswith(".py") else ""
                raise ProgramNotExecutable(f"{self.arguments[0]} is not executable{hint}")
            raise ProgramNotFound(f"no such command: {self.arguments[0]}")
        return executable


def split_command_line(
    arguments: Sequence[str], options_with_value: frozenset[str]
) -> tuple[list[str], Program | None]:
    """Split our own options from the program and its arguments, which we never interpret.

    The program begins at the first argument that is no option of ours, at `-m`, `-c` or `-`, or after `--`.
    """
    i = 0
    while i < len(arguments):
        argument = arguments[i]
        if argument == "--":
            command = tuple(arguments[i + 1 :])
            return list(arguments[:i]), Program(command, is_python=False) if command else None
        if not argument.startswith("-") or argument == "-" or argument.startswith(_MODULE_OR_CODE):
            return list(arguments[:i]), Program(tuple(arguments[i:]), is_python=True)
        i += 2 if argument in options_with_value else 1
    return list(arguments), None


def default_python() -> str:
    """The Python to run programs with: our own if it has torch, else the one on PATH.

    A tool installed by pipx or uvx has no torch; the `python` on PATH is then the user's environment.
    """
    from importlib.util import find_spec

    if find_spec("torch") is None:
        for name in ("python", "python3"):
            found = shutil.which(name)
            if found is not None:
                return found
    return sys.executable


def check_python(python: str) -> str:
    """The full path of `python`; ProgramNotFound or ProgramNotExecutable says what is wrong with it."""
    found = shutil.which(python)
    if found is None:
        problem = "is not executable" if os.path.exists(python) else "does not exist"
        raise ProgramNotFound(f"--python {python} {problem}")
    try:
        answer = subprocess.run(
            [found, "-c", "import sys; print(sys.version_info >= (3, 10))"],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramNotExecutable(f"--python {python} does not run: {error}") from error
    if answer != "True":
        raise ProgramNotExecutable(f"--python {python} is not a Python 3.10 or newer")
    return found


def check_notebook(notebook: str, python: str) -> None:
    """Raise ProgramNotExecutable where `python` lacks what runs a notebook."""
    question = (
        f"from importlib.util import find_spec; print(*filter(lambda m: not find_spec(m), {_FOR_NOTEBOOKS}))"
    )
    missing = subprocess.run([python, "-c", question], capture_output=True, text=True).stdout.split()
    if missing:
        packages = " ".join(module.lower() for module in missing)
        raise ProgramNotExecutable(
            f"{notebook} is a notebook, and {python} has no {' and no '.join(missing)} to run it with: "
            f"{python} -m pip install {packages}"
        )


def ignores_environment(command: Sequence[str]) -> str | None:
    """The flag of this `python` command that disables our start-up code; None where there is none."""
    if not re.match(r"python[0-9.]*$", os.path.basename(command[0])):
        return None
    takes_value = False
    for argument in command[1:]:
        if takes_value:
            takes_value = False
            continue
        if not argument.startswith("-") or argument.startswith(("--", "-m", "-c")) or argument == "-":
            return None
        if argument[1] in "XW":
            takes_value = len(argument) == 2
            continue
        flags = set(argument[1:]) & set("IES")
        if flags:
            return "-" + sorted(flags)[0]
    return None
