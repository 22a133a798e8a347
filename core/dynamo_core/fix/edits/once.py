"""What is to be done once: a setting of the process at the start, and no reset in a loop."""

import libcst as cst

from .effects import nodes
from .source import Source, dotted, torch_name

_SETTINGS = ("set_default_device", "set_default_dtype")
_RESETS = ("_dynamo.reset", "compiler.reset")


def set_at_the_start(text: str, line: int) -> str | None:
    """The module's only call of `torch.set_default_device` or `…_dtype` right behind its imports."""
    source = Source(text)
    names = {f"{torch_name(source)}.{name}" for name in _SETTINGS}
    body = source.module.body
    lines = [each for each in body if _called(each) in names]
    imports = [each for each in body if _is_import(each)]
    all_calls = [call for call in source.calls() if dotted(call.func) in names]
    if len(lines) != 1 or len(all_calls) != 1 or not imports:
        return None
    (setting,) = lines
    first = imports[-1]
    if not _is_of_torch_alone(source, setting):
        return None
    if body.index(setting) <= body.index(first) + 1:
        return None  # it is there
    above = [each for each in getattr(setting, "leading_lines", ()) if each.comment is not None]
    moved = setting.with_changes(leading_lines=above)
    return source.with_changes({setting: cst.RemoveFromParent(), first: cst.FlattenSentinel([first, moved])})


def reset_removed(text: str, line: int) -> str | None:
    """The source without `torch._dynamo.reset()` in loops."""
    source = Source(text)
    names = {f"{torch_name(source)}.{name}" for name in _RESETS}
    changes: dict[cst.CSTNode, cst.RemovalSentinel] = {}
    for call in source.calls():
        statement = next(source.enclosing(call, cst.SimpleStatementLine), None)
        is_in_loop = any(source.enclosing(call, cst.For, cst.While))
        if dotted(call.func) in names and is_in_loop and isinstance(statement, cst.SimpleStatementLine):
            if _called(statement) is None or len(source.siblings(statement)) < 2:
                return None
            changes[statement] = cst.RemoveFromParent()
    return source.with_changes(changes) if changes else None


def _called(node: cst.CSTNode) -> str | None:
    """What a statement calls that is nothing but a call."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    only = node.body[0]
    return (
        dotted(only.value.func) if isinstance(only, cst.Expr) and isinstance(only.value, cst.Call) else None
    )


def _is_of_torch_alone(source: Source, setting: cst.CSTNode) -> bool:
    """Whether no other name is needed, which may get its value above it."""
    uses = [each for each in nodes(setting) if isinstance(each, cst.Name)]
    values = [
        each
        for each in uses
        if not (isinstance(parent := source.parent(each), cst.Attribute) and parent.attr is each)
    ]
    return {each.value for each in values} == {torch_name(source)}


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(each, cst.Import | cst.ImportFrom) for each in node.body
    )
