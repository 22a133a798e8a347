"""Find a bad `--backend` before the program starts, without running any of the user's code."""

import ast
import difflib
import json
import os
import shutil
import subprocess

from ..errors import BackendProblem

# Registered by torch itself in every supported version; other names cost a look into torch's registry.
_IN_EVERY_TORCH = ("inductor", "eager", "aot_eager", "cudagraphs", "aot_eager_decomp_partition")

_LIST_BACKENDS = """
import json, torch, torch._dynamo
print(json.dumps(torch._dynamo.list_backends(exclude_tags=())))
"""


def check_backend(backend: str, python: str) -> str:
    """The backend as the engine shall resolve it, a file's path made absolute; or BackendProblem."""
    place, colon, function = backend.rpartition(":")
    if not colon:
        if backend not in _IN_EVERY_TORCH:
            _check_name(backend, python)
        return backend
    if place.endswith(".py"):
        return f"{_check_file(place, function)}:{function}"
    if not place or not function.isidentifier():
        raise BackendProblem(f"backend {backend!r} is neither a name, module:function nor file.py:function")
    return backend


def _check_name(name: str, python: str) -> None:
    result = subprocess.run([python, "-c", _LIST_BACKENDS], capture_output=True, text=True, check=False)
    if result.returncode != 0:  # no torch there: the program will say so itself
        return
    names = json.loads(result.stdout.splitlines()[-1])
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"registered are: {', '.join(names)}"
        raise BackendProblem(f"unknown backend {name!r}; {hint}")


def _check_file(file: str, function: str) -> str:
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
    return os.path.abspath(file)


def missing_compiler() -> str | None:
    """A sentence where Inductor will find no C++ compiler for the CPU; None where there is one.

    Inductor looks for $CXX, then g++ (torch/_inductor/cpp_builder.py); clang++ and c++ serve as $CXX.
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
