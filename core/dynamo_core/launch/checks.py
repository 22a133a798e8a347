"""Checks before the program starts: autotune file, backends, modes, options, overrides, C++ compiler."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..shared.backend_choice import MODES, OURS, PACKAGES, BackendChoice, parse_choice
from ..shared.errors import AutotuneFileProblem, BackendProblem, did_you_mean
from ..shared.overrides import Override, parse_override
from ..shared.settings import Settings
from ..shared.winners import DEFAULT_FILE, read
from .process import kill_session
from .program import Program


def check_autotune_file(settings: Settings) -> Settings:
    """`settings` with the absolute path of the autotune file, if a backend needs one.

    AutotuneFileProblem if the file is missing or damaged.
    """
    if not _needs_autotune_file(settings):
        return settings
    path = Path(settings.autotune_file or DEFAULT_FILE).absolute()
    try:
        read(path)
    except AutotuneFileProblem as error:
        raise AutotuneFileProblem(f"the backend `autotuned` cannot work: {error}") from error
    return settings._replace(autotune_file=str(path))


def _needs_autotune_file(settings: Settings) -> bool:
    if settings.capture != "none" and any(choice.name == "autotuned" for choice in settings.choices()):
        return True
    return any("=autotuned" in text.replace(" ", "") for text in settings.override)


_CORE_FOLDER = Path(__file__).resolve().parents[2]
# Our folder replaces the working directory on sys.path, whose files are the user's.
_START = "import sys; sys.path[0] = sys.argv[1]; from dynamo_core.backends.backend_info import main; main()"


class NoAnswer(Exception):
    """The process gave no answer; the text says how it ended."""


def ask(
    python: str, question: str, *, time_limit: float | None = None, folder: str | None = None, **about: Any
) -> Any:
    """The answer of `backends/backend_info.py` to a question `about` something.

    NoAnswer after `time_limit` seconds, or if it fails. It runs in `folder`, else in the working directory.
    """
    command = [python, "-c", _START, str(_CORE_FOLDER), question, json.dumps(about)]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=folder,
        start_new_session=True,
    )
    try:
        output, errors = child.communicate(timeout=time_limit)
    except BaseException as error:
        kill_session(child)  # with compilers, and Inductor's workers
        if isinstance(error, subprocess.TimeoutExpired):
            raise NoAnswer(f"it did not end within {time_limit:g} s") from error
        raise
    if child.returncode != 0:
        raise NoAnswer(_how_it_ended(child.returncode, errors))
    return json.loads(output.splitlines()[-1])


def _how_it_ended(code: int, errors: str) -> str:
    if code < 0:
        return f"the process was ended by signal {-code} ({signal.strsignal(-code)})"
    lines = errors.strip().splitlines()
    return lines[-1] if lines else f"the process ended with exit code {code}"


# Registered by torch itself in every supported version: no need to ask torch, which takes seconds to import.
_IN_EVERY_TORCH = ("inductor", "eager", "aot_eager", "cudagraphs")


def check_backend(settings: Settings, program: Program, python: str) -> Settings:
    """`settings` with absolute paths of backend files; BackendProblem for a bad backend, mode or option."""
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
        elif not _needs_no_check(choice) or choice.mode or choice.options:
            to_ask.append(choice)
    if to_ask:
        _ask_torch(to_ask, program, python, is_only=len(settings.choices()) == 1)
    return _with_absolute_files(settings)


def _no_such_mode(backend: str, mode: str) -> str:
    if backend != "inductor":
        return f"backend {backend!r} has no modes, so {backend}:{mode} is none"
    hint = did_you_mean(mode, MODES) or f"modes are {', '.join(MODES)}"
    return f"backend {backend!r} has no mode {mode!r}; {hint}"


def _needs_no_check(choice: BackendChoice) -> bool:
    return choice.name in _IN_EVERY_TORCH or choice.name.rpartition(":")[0].endswith(".py")


def _with_absolute_files(settings: Settings) -> Settings:
    """Make paths of backend files absolute: the program may change its folder before it compiles."""

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
    except NoAnswer:  # torch is missing or broken: the program itself will report that
        return
    for choice, answer in zip(choices, answers, strict=True):
        _raise_if_bad(choice, answer, is_only=is_only)


def _raise_if_bad(choice: BackendChoice, answer: dict[str, Any], *, is_only: bool) -> None:
    if choice.name in PACKAGES and not is_only:
        return  # a chain continues without this backend, and reports that
    if answer["known"] is not None and choice.name not in PACKAGES:
        names = sorted({*answer["known"], *OURS})
        hint = did_you_mean(choice.name, names) or "`dynamo backends --all` lists all there are"
        raise BackendProblem(f"unknown backend {choice.name!r}; {hint}")
    if answer["error"] is not None:
        raise BackendProblem(f"backend {choice.name!r} cannot be used: {_shorten(answer['error'])}")
    if isinstance(answer["file"], str) and answer["file"].endswith(".py"):
        _check_file(answer["file"], choice.name.rpartition(":")[2])


def _shorten(error: str) -> str:
    """Torch's error, with the nearest option only instead of all of Inductor's 600."""
    unknown = re.search(r"Unexpected optimization option (\S+), known options are (\[.*\])", error)
    if unknown is None:
        return error
    hint = did_you_mean(unknown[1], ast.literal_eval(unknown[2]))
    return f"it has no option {unknown[1]!r}" + (f"; {hint}" if hint else "")


def _check_file(file: str, function: str) -> None:
    """Check that the file defines the function, without running it: it may be the program itself."""
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
        hint = did_you_mean(function, module_callables(tree))
        raise BackendProblem(f"{file} defines no {function!r}" + (f"; {hint}" if hint else ""))


def module_callables(tree: ast.AST) -> Iterator[str]:
    """The names at module level that can be a backend: functions, classes, lambdas, and what is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Lambda, ast.Call)):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.stmt):  # `if`, `try`, `with` at module level
            yield from module_callables(node)


def missing_compiler() -> str | None:
    """A warning where Inductor will find no C++ compiler for the CPU; None where there is one.

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


def check_overrides(settings: Settings, program: Program, python: str) -> Settings:
    """`settings` with absolute paths of backend files in overrides; BackendProblem for a bad backend."""
    overrides = [
        _check_override(parse_override(text), settings, program, python) for text in settings.override
    ]
    return settings._replace(override=tuple(map(str, overrides)))


def _check_override(override: Override, settings: Settings, program: Program, python: str) -> Override:
    if not override.names_backend:
        return override
    wanted = settings._replace(
        backend=override.backend or "inductor", mode=override.mode, options=override.options
    )
    checked = check_backend(wanted, program, python)
    return override if override.backend is None else override.with_backend(checked.backend)
