"""Edits that set something for the whole program, or in its calls of torch.compile."""

import ast
from collections.abc import Iterable

import libcst as cst

from ...remedies.rules import Assignment
from .source import (
    Source,
    alone_in,
    called_name,
    dotted,
    expression,
    is_import,
    keyword_argument,
    nodes,
    statement,
    torch_name,
    with_keywords,
)

_SETTINGS = ("set_default_device", "set_default_dtype")
_RESETS = ("_dynamo.reset", "compiler.reset")


def set_at_the_start(text: str, line: int) -> str | None:
    """The source with its only call of `torch.set_default_device` or `…_dtype` right after the imports."""
    source = Source(text)
    names = {f"{torch_name(source)}.{name}" for name in _SETTINGS}
    body = source.module.body
    lines = [each for each in body if _called(each) in names]
    imports = [each for each in body if is_import(each)]
    all_calls = [call for call in source.every(cst.Call) if dotted(call.func) in names]
    if len(lines) != 1 or len(all_calls) != 1 or not imports:
        return None
    (setting,) = lines
    last_import = imports[-1]
    if not _uses_only_torch(source, setting):
        return None
    if body.index(setting) <= body.index(last_import) + 1:
        return None  # it is there already
    above = [each for each in getattr(setting, "leading_lines", ()) if each.comment is not None]
    moved = setting.with_changes(leading_lines=above)
    imports_and_setting = cst.FlattenSentinel([last_import, moved])
    return source.with_changes({setting: cst.RemoveFromParent(), last_import: imports_and_setting})


def reset_removed(text: str, line: int) -> str | None:
    """The source without the calls of `torch._dynamo.reset()` that are in loops or functions."""
    source = Source(text)
    names = {f"{torch_name(source)}.{name}" for name in _RESETS}
    changes: dict[cst.CSTNode, cst.RemovalSentinel] = {}
    for call in source.every(cst.Call):
        statement = next(source.enclosing(call, cst.SimpleStatementLine), None)
        is_repeated = any(source.enclosing(call, cst.For, cst.While, cst.FunctionDef))
        if dotted(call.func) in names and is_repeated and statement is not None:
            if _called(statement) is None or len(source.siblings(statement)) < 2:
                return None
            changes[statement] = cst.RemoveFromParent()
    return source.with_changes(changes) if changes else None


def _called(node: cst.CSTNode) -> str | None:
    """The function that a statement calls; None for a statement that is more than a call."""
    only = alone_in(node)
    call = only.value if isinstance(only, cst.Expr) else None
    return dotted(call.func) if isinstance(call, cst.Call) else None


def _uses_only_torch(source: Source, setting: cst.CSTNode) -> bool:
    """Whether the setting uses no name but torch: others may get their value only above it."""
    uses = [each for each in nodes(setting) if isinstance(each, cst.Name)]
    values = [
        each
        for each in uses
        if not (isinstance(parent := source.parent(each), cst.Attribute) and parent.attr is each)
    ]
    return {each.value for each in values} == {torch_name(source)}


def with_arguments(text: str, line: int, arguments: Iterable[Assignment]) -> str | None:
    """The source with these arguments in the call of torch.compile on this line, by name."""
    source = Source(text)
    wanted = {each.name: each.value for each in arguments}
    new = [_argument(name, value) for name, value in wanted.items()]
    for node in source.expressions_at(line):
        if isinstance(node, cst.Call) and called_name(node) == "compile":
            return source.with_changes({node: with_keywords(node, new)})
    for node in source.expressions_at(line):  # @torch.compile, without a call
        is_decorator = isinstance(source.parent(node), cst.Decorator)
        if is_decorator and dotted(node) == "torch.compile":
            return source.with_changes({node: cst.Call(node, new)})
    return None


def _argument(name: str, value: str) -> cst.Arg:
    """A keyword argument. `value` is as in `dynamo run --override`: a literal, or a string without quotes."""
    return keyword_argument(name, expression(value if _is_literal(value) else repr(value)))


def _is_literal(value: str) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return False
    return True


def with_settings(text: str, settings: Iterable[Assignment]) -> str | None:
    """The source with torch's settings set right after its import of torch; None where it has no import."""
    source = Source(text)
    torch_import = _import_of_torch(source)
    if torch_import is None:
        return None
    # `from torch import nn` does not bind the name `torch`.
    lines = [] if _binds_torch(torch_import) else ["import torch"]
    lines += map(_setting_line, settings)
    return source.with_changes({torch_import: cst.FlattenSentinel([torch_import, *map(statement, lines)])})


def with_environment(text: str, variables: Iterable[Assignment]) -> str | None:
    """The source with environment variables set before torch is imported, unless they are set already."""
    source = Source(text)
    torch_import = _import_of_torch(source)
    if torch_import is None:
        return None
    lines = [f"os.environ.setdefault({each.name!r}, {each.value!r})" for each in variables]
    first, *rest = lines if _imports_os(source, torch_import) else ["import os", *lines]
    bare = torch_import.with_changes(leading_lines=())
    new = [statement(first, torch_import), *map(statement, rest), bare]
    return source.with_changes({torch_import: cst.FlattenSentinel(new)})


def _setting_line(setting: Assignment) -> str:
    if not setting.name.endswith("+"):
        return f"{setting.name} = {setting.value}"
    return f"{setting.name.removesuffix('+')}.add({setting.value})"


def _binds_torch(line: cst.SimpleStatementLine) -> bool:
    """Whether this line binds the name `torch`."""
    names = (alias for small in line.body if isinstance(small, cst.Import) for alias in small.names)
    return any(
        alias.evaluated_alias == "torch"
        if alias.asname is not None
        else (dotted(alias.name) or "").partition(".")[0] == "torch"
        for alias in names
    )


def _imports_os(source: Source, before: cst.SimpleStatementLine) -> bool:
    """Whether `import os` comes before that line."""
    for line in source.module.body:
        if line is before:
            return False
        imports = [each for each in getattr(line, "body", ()) if isinstance(each, cst.Import)]
        if any(source.text_of(name).strip(", ") == "os" for each in imports for name in each.names):
            return True
    return False


def _import_of_torch(source: Source) -> cst.SimpleStatementLine | None:
    """The first top-level import of torch, or from it."""
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
