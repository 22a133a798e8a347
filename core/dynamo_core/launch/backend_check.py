"""Find a bad `--backend`, `--mode` or `--option` before the program starts."""

import ast
import difflib
import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, replace

from ..errors import BackendProblem
from ..settings import Settings
from .program import Program

# Registered by torch itself in every supported version: no need to ask torch, which takes seconds to import.
_IN_EVERY_TORCH = ("inductor", "eager", "aot_eager", "cudagraphs")

# Runs in the program's Python, but none of the user's modules: the backend's may be the program itself.
# torch.compile itself says what is wrong with its arguments.
_ASK_TORCH = """
import importlib.util, json, sys
choices = json.loads(sys.argv[1])
sys.path[:0] = choices["path"]
answer = {"error": None, "names": None, "file": None}
try:
    module, colon, function = choices["backend"].rpartition(":")
    backend = choices["backend"]
    if colon and not module.endswith(".py"):
        spec = importlib.util.find_spec(module)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {module!r}")
        answer["file"] = spec.origin
    import torch, torch._dynamo
    if colon:
        backend = "eager"
    elif backend not in torch._dynamo.list_backends(exclude_tags=()):
        answer["names"] = torch._dynamo.list_backends(exclude_tags=())
    if answer["names"] is None:
        mode, options = choices["mode"], choices["options"] or None
        torch.compile(lambda: None, backend=backend, mode=mode, options=options)
except Exception as error:
    answer["error"] = f"{type(error).__name__}: {error}"
print("\\n" + json.dumps(answer))
"""


def check_backend(settings: Settings, program: Program, python: str) -> Settings:
    """`settings` as the engine shall have them, a backend file's path made absolute; or BackendProblem."""
    place, colon, function = settings.backend.rpartition(":")
    if colon and not function.isidentifier():
        raise BackendProblem(
            f"backend {settings.backend!r} is neither a name, module:function nor file.py:function"
        )
    if place.endswith(".py"):
        _check_file(place, function)
        settings = replace(settings, backend=f"{os.path.abspath(place)}:{function}")
    is_known = settings.backend in _IN_EVERY_TORCH or place.endswith(".py")
    if not is_known or settings.mode is not None or settings.options:
        _ask_torch(settings, program, python)
    return settings


def _ask_torch(settings: Settings, program: Program, python: str) -> None:
    choices = asdict(settings) | {"path": program.import_path()}
    result = subprocess.run(
        [python, "-c", _ASK_TORCH, json.dumps(choices)], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:  # there is no torch, or a broken one: the program will meet that itself
        return
    answer = json.loads(result.stdout.splitlines()[-1])
    if answer["names"] is not None:
        near = difflib.get_close_matches(settings.backend, answer["names"], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"registered are: {', '.join(answer['names'])}"
        raise BackendProblem(f"unknown backend {settings.backend!r}; {hint}")
    if answer["error"] is not None:
        problem = _shorten(answer["error"])
        raise BackendProblem(f"backend {settings.backend!r} cannot be used: {problem}")
    if isinstance(answer["file"], str) and answer["file"].endswith(".py"):
        _check_file(answer["file"], settings.backend.rpartition(":")[2])


def _shorten(error: str) -> str:
    """torch names all of Inductor's 600 options after an unknown one; the nearest is enough."""
    unknown = re.search(r"Unexpected optimization option (\S+), known options are (\[.*\])", error)
    if unknown is None:
        return error
    near = difflib.get_close_matches(unknown[1], ast.literal_eval(unknown[2]), n=1)
    return f"it has no option {unknown[1]!r}" + (f"; did you mean {near[0]!r}?" if near else "")


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
        near = difflib.get_close_matches(function, defined, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise BackendProblem(f"{file} defines no {function!r}{hint}")


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
