"""`torch.compile` out of what is called again and again: before the loop, or beside the function.

Only where what is compiled does not depend on the loop or on the function's own names.
"""

from collections.abc import Iterator

import libcst as cst

from .source import Source, dotted, names_in, statement, torch_name


def compile_hoisted(text: str, line: int) -> str | None:
    """The source with a `torch.compile` on this line, or else the only one in a loop or function, outside."""
    source = Source(text)
    torch = torch_name(source)
    if torch is None:
        return None
    calls = [call for call in _calls(source, f"{torch}.compile") if _home(source, call) is not None]
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
    if isinstance(within, cst.ClassDef) or _calls_at_once(call.args[0].value):
        return None  # of a class, methods do not see names; an object that is made each time is another one
    given = [target for target, _ in source.assignments()]
    if any(given.count(name) > 1 for name in names_in(call.args[0].value)):
        return None  # it may be another one each time
    line_of_call = next(source.enclosing(call, cst.SimpleStatementLine), None)
    if not isinstance(line_of_call, cst.SimpleStatementLine):
        return None
    (small,) = line_of_call.body if len(line_of_call.body) == 1 else (None,)
    if isinstance(small, cst.Assign) and small.value is call and _is_name(small):
        moved, left = line_of_call, cst.RemoveFromParent()
        own = small.targets[0].target
        if len(source.siblings(line_of_call)) == 1 or not _is_only_there(source, own, home, line_of_call):
            return None
        changes: dict[cst.CSTNode, object] = {line_of_call: left}
        first = cst.SimpleStatementLine([moved.body[0]])
    else:
        name = f"compiled_{(dotted(call.args[0].value) or 'function').rpartition('.')[2]}"
        if name in names_in(source.module):
            return None
        changes = {call: cst.Name(name)}
        first = statement(f"{name} = {source.text_of(call)}")
    # What stands inside of `home` changes as well, so both are done in one go.
    inner = Source(source.with_changes(changes))  # type: ignore[arg-type]
    place = source.range_of(home).start.line
    again = inner.statement_at(place)
    if again is None:
        return None
    return inner.with_changes(
        {again: cst.FlattenSentinel([_with_lines_of(first, again), _without_lines(again)])}
    )


def _calls(source: Source, name: str) -> Iterator[cst.Call]:
    found: list[cst.Call] = []

    class Look(cst.CSTVisitor):
        def visit_Call(self, node: cst.Call) -> None:
            if dotted(node.func) == name and node.args:
                found.append(node)

    source.module.visit(Look())
    yield from found


def _home(source: Source, call: cst.Call) -> cst.BaseStatement | None:
    """The outermost loop or function around it that it does not depend on; None where there is none."""
    used = names_in(call)
    home: cst.BaseStatement | None = None
    for around in source.enclosing(call, cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Lambda):
        if isinstance(around, cst.ClassDef | cst.Lambda) or used & own_names(around):
            break
        assert isinstance(around, cst.BaseStatement)
        home = around
    return home


def own_names(around: cst.CSTNode) -> set[str]:
    """Names that get a value inside of it."""
    found: set[str] = set()

    class Look(cst.CSTVisitor):
        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            found.update(names_in(node.target))

        def visit_For(self, node: cst.For) -> None:
            found.update(names_in(node.target))

        def visit_Param(self, node: cst.Param) -> None:
            found.add(node.name.value)

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return node is around  # another's names are its own

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

    around.visit(Look())
    return found


def _calls_at_once(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Lambda):
        return False
    return isinstance(node, cst.Call) or any(_calls_at_once(child) for child in node.children)


def _is_only_there(
    source: Source, target: cst.BaseAssignTargetExpression, home: cst.BaseStatement, line: cst.BaseStatement
) -> bool:
    """Whether the name gets this value only, in every case, and outside of a function is nobody else's."""
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


def _with_lines_of(first: cst.SimpleStatementLine, of: cst.BaseStatement) -> cst.SimpleStatementLine:
    return first.with_changes(leading_lines=getattr(of, "leading_lines", ()))


def _without_lines(node: cst.BaseStatement) -> cst.BaseStatement:
    if isinstance(node, cst.For | cst.While):
        return node.with_changes(leading_lines=())
    lines = [each for each in getattr(node, "leading_lines", ()) if each.comment is None]
    return node.with_changes(leading_lines=lines) if isinstance(node, cst.FunctionDef) else node
