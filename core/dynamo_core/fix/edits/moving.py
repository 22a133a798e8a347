"""Move code that has nothing to do with tensors from a compiled function to its callers.

A call that uses no local names of the function but parameters becomes an argument; a statement that uses
none moves in front of the call of the function. Only for functions of a module that are just called, or given
to torch.compile, and not passed on otherwise: all of their calls must be known.
"""

from collections.abc import Iterator

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .analysis import CLOCKS, calls_outside_torch
from .hoisting import own_names
from .source import (
    Source,
    alone_in,
    called_name,
    contains,
    dotted,
    keyword_argument,
    names_in,
    nodes,
    substituted,
    torch_name,
    with_keywords,
)

_WITHIN = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_REPEATED = (cst.For, cst.While, *_WITHIN)
# Nodes whose content is not evaluated in every case.
_SOMETIMES = (cst.IfExp, cst.BooleanOperation, cst.Assert)
_NOT_TWICE = (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)


@dataclass(frozen=True)
class _Callee:
    """A function, and every call of it in the module."""

    function: cst.FunctionDef
    calls: list[cst.Call]


def call_moved_out(text: str, line: int) -> str | None:
    """The source with a call on this line made by the function's callers and passed as an argument."""
    source = Source(text)
    callee = _callee(source, line)
    if (
        callee is None
        or callee.function.params.star_kwarg
        or callee.function.params.star_arg is not cst.MaybeSentinel.DEFAULT
    ):
        return None
    moved = next(_calls_to_move(source, callee, line), None)
    if moved is None:
        return None
    name = _argument_name(source, moved)
    if name is None:
        return None
    changes: dict[cst.CSTNode, cst.CSTNode] = {moved: cst.Name(name)}
    for call in callee.calls:
        as_called = _as_called(source, callee, call, moved)
        if as_called is None or _is_shadowed(source, call, names_in(moved)):
            return None
        changes[call] = with_keywords(call, [keyword_argument(name, as_called)])
    parameters = callee.function.params
    added = cst.Param(cst.Name(name))
    keyword_only = [*parameters.kwonly_params, added]
    changes[parameters] = parameters.with_changes(kwonly_params=keyword_only, star_arg=cst.ParamStar())
    return source.with_changes(changes)


def statement_moved_out(text: str, line: int) -> str | None:
    """The source with the statement on this line in front of each call of the function."""
    source = Source(text)
    callee, found = _callee(source, line), source.statement_at(line)
    only = alone_in(found)
    if callee is None or found is None or not isinstance(only, cst.Expr):
        return None
    if names_in(only) & own_names(callee.function):
        return None
    if not contains(only, cst.Call) or contains(only, cst.Await, cst.Yield, cst.NamedExpr):
        return None
    if len(source.siblings(found)) < 2 or not _can_come_first(source, callee, found, only):
        return None
    changes: dict[cst.CSTNode, object] = {found: cst.RemoveFromParent()}
    for call in callee.calls:
        home = next(source.enclosing(call, cst.SimpleStatementLine), None)
        if home is None or home in changes or _is_shadowed(source, call, names_in(only)):
            return None
        if not _is_called_first(source, call, home):
            return None
        moved = cst.SimpleStatementLine([only.deep_clone()], leading_lines=home.leading_lines)
        changes[home] = cst.FlattenSentinel([moved, home.with_changes(leading_lines=())])
    return source.with_changes(changes)  # type: ignore[arg-type]


def _callee(source: Source, line: int) -> _Callee | None:
    """The module's function that has this line; None where not all of its calls are known."""
    torch, function = torch_name(source), source.function_at(line)
    if torch is None or function is None or source.parent(function) is not source.module:
        return None
    if any(
        dotted(each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator)
        != f"{torch}.compile"
        for each in function.decorators
    ):
        return None  # another decorator may call it too
    names = {function.name.value}
    uses = [node for node in source.every(cst.Name) if node.value in names and node is not function.name]
    for use in uses:
        parent = source.parent(use)
        compiled = source.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(compiled, cst.Call) and dotted(compiled.func) == f"{torch}.compile":
            assigned = source.parent(compiled)
            if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
                return None
            alias = assigned.targets[0].target
            if not isinstance(alias, cst.Name):
                return None
            names.add(alias.value)
    calls = []
    for node in source.every(cst.Name):
        parent = source.parent(node)
        if node.value not in names or node is function.name or isinstance(parent, cst.AssignTarget):
            continue
        if isinstance(parent, cst.Call) and parent.func is node:
            calls.append(parent)
        elif not (isinstance(parent, cst.Arg) and _is_compiled(source, parent, torch)):
            return None
    return _Callee(function, calls) if calls else None


def _is_compiled(source: Source, argument: cst.Arg, torch: str) -> bool:
    call = source.parent(argument)
    return isinstance(call, cst.Call) and dotted(call.func) == f"{torch}.compile"


def _calls_to_move(source: Source, callee: _Callee, line: int) -> Iterator[cst.Call]:
    """Calls on the line that use no local but parameters and are not torch's, outermost first."""
    own = own_names(callee.function) - _unassigned_parameters(callee.function)
    for call in source.expressions_at(line):
        if isinstance(call, cst.Call) and not names_in(call) & own:
            first = (dotted(call.func) or "").partition(".")[0]
            # In a loop the call is repeated, which the callers cannot do.
            around = next(source.enclosing(call, cst.FunctionDef, *_REPEATED), None)
            if first and first != torch_name(source) and around is callee.function:
                found = source.statement_at(line)
                if found is not None and _can_come_first(source, callee, found, call):
                    yield call


def _can_come_first(source: Source, callee: _Callee, found: cst.BaseStatement, moved: cst.CSTNode) -> bool:
    """Whether every call of the function runs it, and nothing before it in the function could affect it."""
    if source.parent(found) is not callee.function.body or contains(found, *_SOMETIMES):
        return False
    body = list(callee.function.body.body)
    own = own_names(callee.function)
    before = [each for each in body[: body.index(found)] if isinstance(each, cst.BaseStatement)]
    is_date_field = isinstance(source.parent(moved), cst.Attribute)  # `.year`, which measures no duration
    reads_clock = bool(names_in(moved) & CLOCKS) and not is_date_field
    used = names_in(moved) & own
    for earlier in before:
        if contains(earlier, cst.Return, cst.Raise, cst.Assert, cst.Yield, cst.Await, cst.Global, cst.Del):
            return False
        if calls_outside_torch(earlier, own) or names_in(earlier) & used or _sets_item_or_attribute(earlier):
            return False
        if reads_clock and contains(earlier, cst.Call, cst.BinaryOperation):
            return False  # it measures how long that took
    start = source.range_of(moved).start
    other_calls = [
        call
        for call in nodes(found)
        if isinstance(call, cst.Call) and not source.is_inside(moved, call) and call is not moved
    ]
    return not any(
        (at.line, at.column) < (start.line, start.column)
        for at in (source.range_of(call).start for call in other_calls)
    )


def _sets_item_or_attribute(node: cst.CSTNode) -> bool:
    """Whether it assigns an item or an attribute, which code elsewhere may see."""
    targets = (each.target for each in nodes(node) if isinstance(each, cst.AssignTarget | cst.AugAssign))
    return any(contains(target, cst.Subscript, cst.Attribute) for target in targets)


def _is_shadowed(source: Source, call: cst.Call, names: set[str]) -> bool:
    """Whether one of the module's names means something else where the function is called."""
    around = source.enclosing(call, cst.FunctionDef, cst.ClassDef, *_WITHIN)
    return any(names & own_names(each) for each in around)


def _is_called_first(source: Source, call: cst.Call, home: cst.SimpleStatementLine) -> bool:
    """Whether the line makes this call exactly once, and before it no call that it could affect."""
    for node in source.enclosing(call, *_SOMETIMES, *_REPEATED):
        if source.is_inside(node, home):
            return False
    around = list(source.enclosing(call, cst.Call))
    others = [each for each in nodes(home) if isinstance(each, cst.Call) and each is not call]
    end = source.range_of(call).end
    return len(home.body) == 1 and not any(
        each not in around
        and calls_outside_torch(each, set())
        and source.range_of(each).start.line <= end.line
        and (source.range_of(each).start.line, source.range_of(each).start.column) < (end.line, end.column)
        for each in others
    )


def _unassigned_parameters(function: cst.FunctionDef) -> set[str]:
    """The names of a function's parameters that are not assigned in it."""
    parameters = [each.name.value for each in function.params.params]
    return set(parameters) - own_names(function.body)


def _as_called(source: Source, callee: _Callee, call: cst.Call, moved: cst.Call) -> cst.BaseExpression | None:
    """The moved call with the arguments of this call in place of parameters; None where that is unclear."""
    parameters = callee.function.params
    positions = [each.name.value for each in (*parameters.posonly_params, *parameters.params)]
    given: dict[str, cst.BaseExpression] = {}
    for position, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None:
            given[argument.keyword.value] = argument.value
        elif position < len(positions):
            given[positions[position]] = argument.value
    used = names_in(moved) & _unassigned_parameters(callee.function)
    if not used <= set(given) or any(contains(given[name], *_NOT_TWICE) for name in used):
        return None  # a default value, or an argument that would be evaluated twice
    return substituted(moved, {name: given[name] for name in used})


def _argument_name(source: Source, call: cst.Call) -> str | None:
    """A name for the new argument, after the variable it is assigned to, else after the called function."""
    parent = source.parent(call)
    target = parent.targets[0].target if isinstance(parent, cst.Assign) and len(parent.targets) == 1 else None
    of = target.value if isinstance(target, cst.Name) else called_name(call) or "value"
    return None if f"{of}_given" in names_in(source.module) else f"{of}_given"
