"""Move `torch.compile` out of a loop or function that runs repeatedly, to the place before it.

Only where what is compiled does not depend on names assigned in the loop or function.
"""

from collections.abc import Iterator

import libcst as cst

from .source import Source, dotted, names_in, statement, torch_name


def compile_hoisted(text: str, line: int) -> str | None:
    """The source with `torch.compile` moved out: the one on this line, else the only one that can be."""
    source = Source(text)
    torch = torch_name(source)
    if torch is None:
        return None
    calls = [call for call in _calls_of(source, f"{torch}.compile") if _home(source, call) is not None]
    here = [
        call for call in calls if source.range_of(call).start.line <= line <= source.range_of(call).end.line
    ]
    chosen = here or calls
    if len(chosen) != 1:
        return None
    (call,) = chosen
    home = _home(source, call)
    assert home is not None
    within = next(source.enclosing(home, cst.FunctionDef, cst.ClassDef), None)
    if isinstance(within, cst.ClassDef) or _has_call(call.args[0].value):
        return (
            None  # methods do not see names of their class; an object made in the call is a new one each time
        )
    assigned = [target for target, _ in source.assignments()]
    if any(assigned.count(name) > 1 for name in names_in(call.args[0].value)):
        return None  # it may be a different object each time
    line_of_call = next(source.enclosing(call, cst.SimpleStatementLine), None)
    if not isinstance(line_of_call, cst.SimpleStatementLine):
        return None
    (small,) = line_of_call.body if len(line_of_call.body) == 1 else (None,)
    if isinstance(small, cst.Assign) and small.value is call and _is_name(small):
        own = small.targets[0].target
        if len(source.siblings(line_of_call)) == 1 or not _is_only_value(source, own, home, line_of_call):
            return None
        changes: dict[cst.CSTNode, object] = {line_of_call: cst.RemoveFromParent()}
        first = cst.SimpleStatementLine([line_of_call.body[0]])
    else:
        name = f"compiled_{(dotted(call.args[0].value) or 'function').rpartition('.')[2]}"
        if name in names_in(source.module):
            return None
        changes = {call: cst.Name(name)}
        first = statement(f"{name} = {source.text_of(call)}")
    # The insertion replaces `home`, whose content changes too: so the changed source is parsed again.
    inner = Source(source.with_changes(changes))  # type: ignore[arg-type]
    place = source.range_of(home).start.line
    new_home = inner.statement_at(place)
    if new_home is None:
        return None
    return inner.with_changes(
        {new_home: cst.FlattenSentinel([_with_lines_of(first, new_home), _without_lines(new_home)])}
    )


def _calls_of(source: Source, name: str) -> Iterator[cst.Call]:
    found: list[cst.Call] = []

    class Visitor(cst.CSTVisitor):
        def visit_Call(self, node: cst.Call) -> None:
            if dotted(node.func) == name and node.args:
                found.append(node)

    source.module.visit(Visitor())
    yield from found


def _home(source: Source, call: cst.Call) -> cst.BaseStatement | None:
    """The outermost loop or function around the call that it does not depend on; None where there is none."""
    used = names_in(call)
    home: cst.BaseStatement | None = None
    for around in source.enclosing(call, cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Lambda):
        if isinstance(around, cst.ClassDef | cst.Lambda) or used & own_names(around):
            break
        assert isinstance(around, cst.BaseStatement)
        home = around
    return home


def own_names(around: cst.CSTNode) -> set[str]:
    """The names that are assigned inside of a loop, function or other node."""
    found: set[str] = set()

    class Visitor(cst.CSTVisitor):
        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            found.update(names_in(node.target))

        def visit_For(self, node: cst.For) -> None:
            found.update(names_in(node.target))

        def visit_Param(self, node: cst.Param) -> None:
            found.add(node.name.value)

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return node is around  # names of an inner lambda are local to it

        def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
            if node is not around:
                found.add(node.name.value)

        def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
            found.update(names_in(node.target))

        def visit_CompFor(self, node: cst.CompFor) -> None:
            found.update(names_in(node.target))

        def visit_AugAssign(self, node: cst.AugAssign) -> None:
            found.update(names_in(node.target))

        def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
            found.update(names_in(node.target))

        def visit_Global(self, node: cst.Global) -> None:
            found.update(each.name.value for each in node.names)

        def visit_ClassDef(self, node: cst.ClassDef) -> None:
            found.add(node.name.value)

        def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
            if node.asname is None:
                found.add((dotted(node.name) or "").partition(".")[0])

        def visit_AsName(self, node: cst.AsName) -> None:
            found.update(names_in(node.name))

    around.visit(Visitor())
    return found


def _has_call(node: cst.CSTNode) -> bool:
    """Whether evaluating it makes a call; the body of a lambda is not evaluated yet."""
    if isinstance(node, cst.Lambda):
        return False
    return isinstance(node, cst.Call) or any(_has_call(child) for child in node.children)


def _is_only_value(
    source: Source, target: cst.BaseAssignTargetExpression, home: cst.BaseStatement, line: cst.BaseStatement
) -> bool:
    """Whether the name has this value only, in every case, and is not used outside of the function."""
    own = target.value if isinstance(target, cst.Name) else None
    if any(source.enclosing(line, cst.If, cst.Try)) and any(
        source.is_inside(each, home) for each in source.enclosing(line, cst.If, cst.Try)
    ):
        return False
    uses = [each for each in source.names() if each.value == own]
    if isinstance(home, cst.FunctionDef) and not all(source.is_inside(each, home) for each in uses):
        return False
    return [name for name, _ in source.assignments()].count(own or "") == 1


def _is_name(small: cst.Assign) -> bool:
    return len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name)


def _with_lines_of(first: cst.SimpleStatementLine, node: cst.BaseStatement) -> cst.SimpleStatementLine:
    return first.with_changes(leading_lines=getattr(node, "leading_lines", ()))


def _without_lines(node: cst.BaseStatement) -> cst.BaseStatement:
    if isinstance(node, cst.For | cst.While):
        return node.with_changes(leading_lines=())
    lines = [each for each in getattr(node, "leading_lines", ()) if each.comment is None]
    return node.with_changes(leading_lines=lines) if isinstance(node, cst.FunctionDef) else node
