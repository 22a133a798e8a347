"""Move `torch.compile`: out of a loop or function that runs repeatedly, or to the module itself.

Out of a loop only where what is compiled does not depend on names assigned in the loop or function.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import libcst as cst

from .analysis import class_made
from .source import Source, alone_in, called_name, dotted, expression, names_in, nodes, statement, torch_name

_BACKEND = "one_backend"  # the name that a backend gets which is made once


def compiled_in_place(text: str, line: int) -> str | None:
    """The source with `model = torch.compile(model, …)` on this line as `model.compile(…)`.

    So with `torch.compile(model)` alone, whose result is dropped.
    """
    source = Source(text)
    found = source.statement_at(line)
    small = alone_in(found)
    is_one = isinstance(small, cst.Expr) or (isinstance(small, cst.Assign) and len(small.targets) == 1)
    call = small.value if is_one and isinstance(small, cst.Expr | cst.Assign) else None
    if (
        not isinstance(call, cst.Call)
        or dotted(call.func) != f"{torch_name(source)}.compile"
        or not call.args
    ):
        return None
    assert isinstance(found, cst.SimpleStatementLine)
    model, *options = call.args
    name = dotted(model.value)
    target = dotted(small.targets[0].target) if isinstance(small, cst.Assign) else name
    if model.keyword is not None or model.star or name is None or name != target:
        return None
    in_place = call.with_changes(func=cst.Attribute(model.value, cst.Name("compile")), args=options)
    return source.with_changes({found: found.with_changes(body=[cst.Expr(in_place)])})


def called_methods_compiled(text: str, line: int) -> str | None:
    """The source with the methods compiled that are called on what `model = torch.compile(…)` gives.

    These are methods that a class of this file defines: `model.generate = torch.compile(model.generate)`.
    Where the object is handed on, they are those that only its class has, and that others call.
    """
    source = Source(text)
    found = source.statement_at(line)
    small = alone_in(found)
    call = small.value if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    if (
        not isinstance(call, cst.Call)
        or dotted(call.func) != f"{torch_name(source)}.compile"
        or not call.args
    ):
        return None
    assert isinstance(small, cst.Assign) and isinstance(found, cst.SimpleStatementLine)
    model, *options = call.args
    target = dotted(small.targets[0].target)
    called = {dotted(each.func) for each in source.every(cst.Call)}
    known = _methods(source)
    of_the_object = _called_elsewhere(source, class_made(model.value), known)
    methods = sorted(name for name in known if f"{target}.{name}" in called or name in of_the_object)
    if target is None or model.keyword is not None or model.star or not methods:
        return None
    lines: list[cst.BaseStatement] = [found.with_changes(body=[small.with_changes(value=model.value)])]
    for name in methods:
        method = cst.Arg(expression(f"{target}.{name}"), comma=model.comma)
        compiled = source.text_of(call.with_changes(args=[method, *options]))
        lines.append(statement(f"{target}.{name} = {compiled}"))
    return source.with_changes({found: cst.FlattenSentinel(lines)})


def _methods(source: Source) -> Counter[str]:
    """How many classes of this file have a method, without `forward` and those that Python calls itself."""
    functions = list(source.every(cst.FunctionDef))
    around = [next(source.enclosing(each, cst.ClassDef, cst.FunctionDef), None) for each in functions]
    owned = (each for each, outer in zip(functions, around, strict=True) if isinstance(outer, cst.ClassDef))
    names = Counter(each.name.value for each in owned if not each.decorators)
    return Counter({name: n for name, n in names.items() if name != "forward" and not name.startswith("__")})


def _called_elsewhere(source: Source, class_name: str | None, known: Counter[str]) -> set[str]:
    """The methods that only this class of the file has, and that are called outside of it."""
    homes = [each for each in source.every(cst.ClassDef) if each.name.value == class_name]
    inside = {each for home in homes for each in nodes(home)}
    own = {each.name.value for each in inside if isinstance(each, cst.FunctionDef)}
    outside = (each.func for each in source.every(cst.Call) if each not in inside)
    called = {each.attr.value for each in outside if isinstance(each, cst.Attribute)}
    return {name for name in own & called if known[name] == 1} if len(homes) == 1 else set()


def compile_hoisted(text: str, line: int) -> str | None:
    """The source with `torch.compile` moved out: the one on this line, else the only one that can be.

    Where it compiles several modules in a loop, the making of their backend is moved out of that.
    """
    source = Source(text)
    torch = torch_name(source)
    if torch is None:
        return None
    compiles = [call for call in source.every(cst.Call) if dotted(call.func) == f"{torch}.compile"]
    calls = [call for call in compiles if call.args and _home(source, call) is not None]
    here = [call for call in compiles if _is_on(source, call, line)]
    if len(here) == 1 and here[0] not in calls:
        return _backend_hoisted(source, here[0])
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
    if line_of_call is None:
        return None
    small = alone_in(line_of_call)
    own = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    if isinstance(small, cst.Assign) and small.value is call and isinstance(own, cst.Name):
        if len(source.siblings(line_of_call)) == 1 or not _is_only_value(source, own, home, line_of_call):
            return None
        changes: dict[cst.CSTNode, object] = {line_of_call: cst.RemoveFromParent()}
        first = cst.SimpleStatementLine([small])
    else:
        name = f"compiled_{called_name(call.args[0].value) or 'function'}"
        if name in names_in(source.module):
            return None
        changes = {call: cst.Name(name)}
        first = statement(f"{name} = {source.text_of(call)}")
    return _put_before(source, home, first, changes)


def _is_on(source: Source, call: cst.Call, line: int) -> bool:
    span = source.range_of(call)
    return span.start.line <= line <= span.end.line


def _backend_hoisted(source: Source, call: cst.Call) -> str | None:
    """The source with the backend of this call of torch.compile made once, in front of the loop around it."""
    given = {each.keyword.value: each.value for each in call.args if each.keyword is not None}
    made = given.get("backend")
    home = _home(source, made) if isinstance(made, cst.Call) else None
    if made is None or home is None or _BACKEND in names_in(source.module):
        return None
    first = statement(f"{_BACKEND} = {source.text_of(made)}")
    return _put_before(source, home, first, {made: cst.Name(_BACKEND)})


def _put_before(
    source: Source,
    home: cst.BaseStatement,
    first: cst.SimpleStatementLine,
    changes: Mapping[cst.CSTNode, object],
) -> str | None:
    """The source with these changes, and a statement in front of the loop or function that they are in."""
    # The insertion replaces `home`, whose content changes too: so the changed source is parsed again.
    inner = Source(source.with_changes(changes))  # type: ignore[arg-type]
    new_home = inner.statement_at(source.range_of(home).start.line)
    if new_home is None:
        return None
    first = first.with_changes(leading_lines=getattr(new_home, "leading_lines", ()))
    return inner.with_changes({new_home: cst.FlattenSentinel([first, _without_lines(new_home)])})


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
    return {name for node in _without_lambdas(around) for name in _assigned_by(node, around)}


def _without_lambdas(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and its descendants; names of a lambda inside of it are local to that one."""
    yield node
    for child in node.children:
        if not isinstance(child, cst.Lambda):
            yield from _without_lambdas(child)


def _assigned_by(node: cst.CSTNode, around: cst.CSTNode) -> set[str]:
    """The names that a node itself assigns in `around`."""
    match node:
        case (
            cst.AssignTarget(target=target)
            | cst.For(target=target)
            | cst.CompFor(target=target)
            | cst.NamedExpr(target=target)
            | cst.AugAssign(target=target)
            | cst.AnnAssign(target=target)
            | cst.AsName(name=target)
        ):
            return names_in(target)
        case cst.FunctionDef(name=name) if node is around:
            return set()
        case cst.Param(name=name) | cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            return {name.value}
        case cst.Global(names=names):
            return {each.name.value for each in names}
        case cst.ImportAlias(asname=None, name=name):
            return {(dotted(name) or "").partition(".")[0]}
    return set()


def _has_call(node: cst.CSTNode) -> bool:
    """Whether evaluating it makes a call; the body of a lambda is not evaluated yet."""
    if isinstance(node, cst.Lambda):
        return False
    return isinstance(node, cst.Call) or any(_has_call(child) for child in node.children)


def _is_only_value(
    source: Source, target: cst.Name, home: cst.BaseStatement, line: cst.BaseStatement
) -> bool:
    """Whether the name has this value only, in every case, and is not used outside of the function."""
    if any(source.is_inside(each, home) for each in source.enclosing(line, cst.If, cst.Try)):
        return False
    uses = [each for each in source.every(cst.Name) if each.value == target.value]
    if isinstance(home, cst.FunctionDef) and not all(source.is_inside(each, home) for each in uses):
        return False
    return [name for name, _ in source.assignments()].count(target.value) == 1


def _without_lines(node: cst.BaseStatement) -> cst.BaseStatement:
    if isinstance(node, cst.For | cst.While):
        return node.with_changes(leading_lines=())
    lines = [each for each in getattr(node, "leading_lines", ()) if each.comment is None]
    return node.with_changes(leading_lines=lines) if isinstance(node, cst.FunctionDef) else node
