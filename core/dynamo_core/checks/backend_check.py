"""Find a bad `--backend`, `--mode` or `--option` before the program starts."""

import ast
import os
import re
import shutil
from collections.abc import Sequence
from typing import Any

from ..shared.backend_choice import MODES, OURS, BackendChoice, parse_choice
from ..shared.backend_packages import PACKAGES
from ..shared.errors import BackendProblem
from ..shared.near_names import did_you_mean
from ..shared.settings import Settings
from .inquiry import NoAnswer, ask
from .program import Program

# Registered by torch itself in every supported version: no need to ask torch, which takes seconds to import.
_IN_EVERY_TORCH = ("inductor", "eager", "aot_eager", "cudagraphs")


def check_backend(settings: Settings, program: Program, python: str) -> Settings:
    """`settings` as the engine shall have them, backend files' paths made absolute; or BackendProblem."""
    to_ask = []
    for choice in settings.choices():
        place, colon, function = choice.name.rpartition(":")
        if colon and place in (*OURS, *_IN_EVERY_TORCH):
            raise BackendProblem(_no_such_mode(place, function))
        if colon and not function.isidentifier():
            raise BackendProblem(
                f"backend {choice.name!r} is neither a name, module:function nor file.py:function"
            )
        if place.endswith(".py"):
            _check_file(place, function)
        if choice.name in OURS:
            if choice.mode or choice.options:
                raise BackendProblem(f"backend {choice.name!r} takes neither a mode nor options")
        elif not _is_known(choice) or choice.mode or choice.options:
            to_ask.append(choice)
    if to_ask:
        _ask_torch(to_ask, program, python, is_only=len(settings.choices()) == 1)
    return _with_absolute_files(settings)


def _no_such_mode(backend: str, mode: str) -> str:
    if backend != "inductor":
        return f"backend {backend!r} has no modes, so {backend}:{mode} is none"
    hint = did_you_mean(mode, MODES) or f"modes are {', '.join(MODES)}"
    return f"backend {backend!r} has no mode {mode!r}; {hint}"


def _is_known(choice: BackendChoice) -> bool:
    return choice.name in _IN_EVERY_TORCH or choice.name.rpartition(":")[0].endswith(".py")


def _with_absolute_files(settings: Settings) -> Settings:
    """The program may change its folder before its first graph is compiled."""

    def absolute(name: str) -> str:
        place, _, function = name.rpartition(":")
        if not place.endswith(".py"):
            return name
        if "," in os.path.abspath(place):
            raise BackendProblem(
                f"backend file {os.path.abspath(place)} has a comma in its path, which parts backends; "
                f"write module:{function}"
            )
        return f"{os.path.abspath(place)}:{function}"

    def absolute_key(key: str) -> str:
        name, colon, own_key = key.rpartition(":")
        return f"{absolute(name)}:{own_key}" if colon else key

    typed = [parse_choice(part) for part in settings.backend.split(",")]
    backend = ",".join(str(choice._replace(name=absolute(choice.name))) for choice in typed)
    options = {absolute_key(key): value for key, value in settings.options.items()}
    return settings._replace(backend=backend, options=options)


def _ask_torch(choices: Sequence[BackendChoice], program: Program, python: str, *, is_only: bool) -> None:
    named = [choice._asdict() for choice in choices]
    try:
        answers = ask(python, "check", choices=named, path=program.import_path())
    except NoAnswer:  # there is no torch, or a broken one: the program will meet that itself
        return
    for choice, answer in zip(choices, answers, strict=True):
        _raise_if_bad(choice, answer, is_only=is_only)


def _raise_if_bad(choice: BackendChoice, answer: dict[str, Any], *, is_only: bool) -> None:
    if choice.name in PACKAGES and not is_only:
        return  # without it the chain goes on, and says so
    if answer["known"] is not None and choice.name not in PACKAGES:
        names = sorted({*answer["known"], *OURS})
        hint = did_you_mean(choice.name, names) or "`dynamo backends --all` lists all there are"
        raise BackendProblem(f"unknown backend {choice.name!r}; {hint}")
    if answer["error"] is not None:
        raise BackendProblem(f"backend {choice.name!r} cannot be used: {_shorten(answer['error'])}")
    if isinstance(answer["file"], str) and answer["file"].endswith(".py"):
        _check_file(answer["file"], choice.name.rpartition(":")[2])


def _shorten(error: str) -> str:
    """torch names all of Inductor's 600 options after an unknown one; the nearest is enough."""
    unknown = re.search(r"Unexpected optimization option (\S+), known options are (\[.*\])", error)
    if unknown is None:
        return error
    hint = did_you_mean(unknown[1], ast.literal_eval(unknown[2]))
    return f"it has no option {unknown[1]!r}" + (f"; {hint}" if hint else "")


def _check_file(file: str, function: str) -> None:
    """Look for the function without running the file, which may be the program itself."""
    try:
        with open(file, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except OSError as error:
        raise BackendProblem(f"cannot read backend file {file}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise BackendProblem(f"backend file {file} is not valid Python: {error}") from error
    defined: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if function not in defined and "*" not in defined:
        hint = did_you_mean(function, defined)
        raise BackendProblem(f"{file} defines no {function!r}" + (f"; {hint}" if hint else ""))


def missing_compiler() -> str | None:
    """A sentence where Inductor will find no C++ compiler for the CPU; None where there is one.

    Inductor takes $CXX, else g++ (torch/_inductor/config.py, cpp.cxx; 2.8 to 2.15, on Linux).
    """
    wanted = os.environ.get("CXX")
    if wanted and shutil.which(wanted.split()[0]):
        return None
    if not wanted and shutil.which("g++"):
        return None
    looked_for = f"$CXX={wanted}" if wanted else "g++"
    return (
        f"no C++ compiler ({looked_for}): Inductor cannot compile for the CPU here. Install g++ or set CXX; "
        "without it --backend eager or aot_eager still shows graphs, bytecode, guards and breaks."
    )
