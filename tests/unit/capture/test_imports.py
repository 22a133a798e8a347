"""What is imported while the program runs: from the standard library as it was, and without a trace."""

import ast
import dis
import json
import re
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

import pytest

from dynamo_core.capture import hidden_modules, imports, probe_table
from dynamo_core.capture.whole_program import capture

CORE = Path(str(imports.__file__)).parents[2]
STANDARD = {module.__name__ for module in imports._STANDARD}


def named_later() -> set[str]:
    """The modules that are named where `import_later` is called."""
    source = Path(str(probe_table.__file__)).read_text()
    probes = re.findall(r'\blater\("(\w+)"', source)
    others = {capture._SIDE_EFFECTS, capture._EAGER_SEMANTICS, "dynamo_core.backends.compilers"}
    return others.union(f"dynamo_core.capture.probes.{name}" for name in probes)


def with_what_they_import(modules: set[str]) -> set[str]:
    """They, and those of ours that they import at once, and so on."""
    to_visit, found = list(modules), set[str]()
    while to_visit:
        module = to_visit.pop()
        if module not in found and file_of(module) is not None:
            found.add(module)
            to_visit += imports_of(module)
    return found


def imports_of(module: str) -> Iterator[str]:
    """What a module imports at once, not in a function, and not for type checkers only."""
    file = file_of(module)
    assert file is not None
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            name = resolve_name("." * statement.level + (statement.module or ""), package)
            yield name
            yield from (f"{name}.{alias.name}" for alias in statement.names if name.startswith("dynamo_core"))


def file_of(module: str) -> Path | None:
    path = CORE.joinpath(*module.split("."))
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def test_they_need_no_standard_module_but_those_that_are_kept() -> None:
    at_once = with_what_they_import({"dynamo_core.capture.engine"})
    assert not named_later() & at_once, "imported when the program imports torch"
    later = with_what_they_import(named_later()) - at_once
    assert "dynamo_core.capture.probes.unrolled_loops" in later  # which one of them imports
    needed = {name.partition(".")[0] for module in later for name in imports_of(module)}
    assert needed - {"dynamo_core"} <= STANDARD


def test_each_of_them_has_its_installer() -> None:
    source = Path(str(probe_table.__file__)).read_text()
    named = re.findall(r'\blater\("(\w+)"(?:, "(\w+)")?\)', source)
    assert len(named) >= 10
    for module, function in named:
        (probe,) = imports.import_later(f"dynamo_core.capture.probes.{module}")
        assert callable(getattr(probe, function or "install"))


def test_what_the_program_has_replaced_steps_aside_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_ours.py").write_text("import json, dis\nseen = json, dis\n")
    monkeypatch.syspath_prepend(tmp_path)
    theirs = ModuleType("json")
    monkeypatch.setitem(sys.modules, "json", theirs)
    monkeypatch.delitem(sys.modules, "dis")
    try:
        (module,) = imports.import_later("of_ours")
    finally:
        sys.modules.pop("of_ours", None)
    assert module.seen == (json, dis)
    assert sys.modules["json"] is theirs and "dis" not in sys.modules


def test_modules_stay_hidden_where_the_program_has_cleared_what_python_knows_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hidden_later.py").write_text("")
    monkeypatch.setattr(hidden_modules, "_finders", {})
    monkeypatch.syspath_prepend(tmp_path)
    hidden_modules.hide_modules_in([str(tmp_path)])
    sys.path_importer_cache.pop(str(tmp_path))
    try:
        (module,) = imports.import_later("hidden_later")
    finally:
        sys.modules.pop("hidden_later", None)
        sys.path_importer_cache.pop(str(tmp_path), None)
    assert str(module.__file__).startswith("<dynamo>/")


def test_an_import_that_the_program_has_forbidden_stays_forbidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_ours_too.py").write_text("import json\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "json", None)
    try:
        imports.import_later("of_ours_too")
    finally:
        sys.modules.pop("of_ours_too", None)
    assert sys.modules["json"] is None
