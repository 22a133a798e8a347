"""Settings and environment variables as lines of the program: set before torch reads them."""

from collections.abc import Iterable

import libcst as cst

from ...analysis.remedies.advice import Assignment
from .source import Source, dotted, statement


def with_settings(text: str, settings: Iterable[Assignment]) -> str | None:
    """The source with torch's settings set right behind its import of torch; None where it has none."""
    source = Source(text)
    behind = _import_of_torch(source)
    if behind is None:
        return None
    lines = [] if _binds_torch(behind) else ["import torch"]  # `from torch import nn` gives no such name
    lines += [line for setting in settings for line in _setting_lines(setting)]
    return source.with_changes({behind: cst.FlattenSentinel([behind, *map(statement, lines)])})


def with_environment(text: str, variables: Iterable[Assignment]) -> str | None:
    """The source with variables set, unless they are set already, before torch is imported."""
    source = Source(text)
    before = _import_of_torch(source)
    if before is None:
        return None
    lines = [f"os.environ.setdefault({each.name!r}, {each.value!r})" for each in variables]
    first, *rest = lines if _imports_os(source, before) else ["import os", *lines]
    bare = before.with_changes(leading_lines=())
    new = [statement(first, before), *map(statement, rest), bare]
    return source.with_changes({before: cst.FlattenSentinel(new)})


def _setting_lines(setting: Assignment) -> list[str]:
    if not setting.name.endswith("+"):
        return [f"{setting.name} = {setting.value}"]
    return [f"{setting.name.removesuffix('+')}.add({setting.value})"]


def _binds_torch(line: cst.SimpleStatementLine) -> bool:
    """Whether the name `torch` is there behind this line."""
    names = (alias for small in line.body if isinstance(small, cst.Import) for alias in small.names)
    return any(
        alias.evaluated_alias == "torch"
        if alias.asname is not None
        else (dotted(alias.name) or "").partition(".")[0] == "torch"
        for alias in names
    )


def _imports_os(source: Source, before: cst.SimpleStatementLine) -> bool:
    """Whether `import os` stands above that line."""
    for line in source.module.body:
        if line is before:
            return False
        for small in getattr(line, "body", ()) if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Import) and any(
                source.text_of(a).strip(", ") == "os" for a in small.names
            ):
                return True
    return False


def _import_of_torch(source: Source) -> cst.SimpleStatementLine | None:
    for line in source.module.body:
        if isinstance(line, cst.SimpleStatementLine):
            for small in line.body:
                names = small.names if isinstance(small, cst.Import) else ()
                if any((dotted(alias.name) or "").split(".")[0] == "torch" for alias in names):
                    return line
                module = small.module if isinstance(small, cst.ImportFrom) else None
                if module is not None and (dotted(module) or "").split(".")[0] == "torch":
                    return line
    return None
