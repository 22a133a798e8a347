"""Whether a function that an option names can be one of the program's, by its source, which is not run.

A name is called wrong only where that is certain: the program imports nothing but its own files, the standard
library and torch, none of its files has the word, and a function or class of it has nearly the same name.
"""

import ast
import difflib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from .program import Program

_KNOWN = frozenset({"torch", *sys.stdlib_module_names})
# Which may bring functions that no `import` shows; `model.eval()` does not.
_OTHER_WAYS = re.compile(r"\b(?:importlib|__import__|runpy|hub)\b|(?<![.\w])(?:exec|eval)\(|\bload\w*\(")
_MOST_FILES = 200
_LARGEST = 1 << 20  # bytes of a file
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _NotCertain(Exception):
    """The program may have functions that its own files do not show."""


def meant_instead_of(name: str, program: Program) -> str | None:
    """`Net.forward` for `Net.forwad`; None where `name` may be right, or nothing is near it."""
    try:
        texts = list(_own_texts(program))
    except (_NotCertain, OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    words = {word for text in texts for word in re.findall(r"\w+", text)} | {"forward"}
    defined = {
        node.name for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, _DEFINITIONS)
    }
    parts = name.split(".")
    meant = [part if part in words else _nearest(part, defined | {"forward"}) for part in parts]
    return None if None in meant or meant == parts else ".".join(filter(None, meant))


def _nearest(part: str, defined: set[str]) -> str | None:
    return next(iter(difflib.get_close_matches(part, sorted(defined), n=1, cutoff=0.75)), None)


def _own_texts(program: Program) -> Iterator[str]:
    """The program's own files, as far as its imports lead to them."""
    first, *rest = program.arguments
    if not program.is_python or first == "-" or os.path.isdir(first):
        raise _NotCertain
    folder = Path(program.import_path()[0])
    waiting: list[Path] = []
    if first.startswith("-c"):
        yield (text := first[2:] or rest[0])
        waiting += _imported(text, folder)
    elif first.startswith("-m"):
        waiting += _files_of(first[2:] or rest[0], folder)
    else:
        waiting.append(Path(first))
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if len(seen) > _MOST_FILES or path.stat().st_size > _LARGEST:
            raise _NotCertain
        yield (text := path.read_text(encoding="utf-8"))
        waiting += _imported(text, folder, path.parent)


def _imported(text: str, folder: Path, package: Path | None = None) -> Iterator[Path]:
    """The program's own files that a text imports; `package` is where its relative imports begin."""
    if _OTHER_WAYS.search(text):
        raise _NotCertain
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield from _files_of(each.name, folder)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                start = folder
            elif package is None:
                raise _NotCertain
            else:
                start = package.joinpath(*[".."] * (node.level - 1))
            for each in node.names:
                yield from _files_of(f"{node.module or ''}.{each.name}".strip("."), start, node.level > 0)


def _files_of(module: str, folder: Path, is_relative: bool = False) -> Iterator[Path]:
    """The files of a module and of the packages that it is in; none for a name that a module holds."""
    place, found = folder, False
    for part in module.split("."):
        place /= part
        for path in (place.with_name(f"{part}.py"), place / "__init__.py"):
            if path.is_file():
                found = True
                yield path
    if not found and not is_relative and module.partition(".")[0] not in _KNOWN:
        raise _NotCertain
