"""What a compiled function does that has nothing to do with tensors, done by whoever calls it.

A call that uses none of the function's own names, or only its parameters, becomes an argument; a statement
that uses none stands in front of the call of the function. Only for functions of a module that are called, or
given to torch.compile, and not handed around otherwise: all of their calls must be known.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from .hoisting import own_names
from .source import Source, contains, dotted, names_in, torch_name

_REPEATED = (cst.For, cst.While, cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


@dataclass(frozen=True)
class _Callee:
    """A function, and every call of it in the module."""

    function: cst.FunctionDef
    calls: list[cst.Call]


def call_moved_out(text: str, line: int) -> str | None:
    """The source with a call on this line made by the callers, and passed in as an argument."""
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
    name = _name_for(source, moved)
    if name is None:
        return None
    changes: dict[cst.CSTNode, cst.CSTNode] = {moved: cst.Name(name)}
    for call in callee.calls:
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        as_called = _with_arguments(source, callee, call, moved)
        if as_called is None:
            return None
        argument = cst.Arg(as_called, keyword=cst.Name(name), equal=equal)
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        known = [each.with_changes(comma=comma) for each in call.args]
        changes[call] = call.with_changes(args=[*known, argument])
    parameters = callee.function.params
    added = cst.Param(cst.Name(name))
    keyword_only = [*parameters.kwonly_params, added]
    changes[parameters] = parameters.with_changes(kwonly_params=keyword_only, star_arg=cst.ParamStar())
    return source.with_changes(changes)


def statement_moved_out(text: str, line: int) -> str | None:
    """The source with the statement on this line in front of each call of the function."""
    source = Source(text)
    callee, found = _callee(source, line), source.statement_at(line)
    if callee is None or not isinstance(found, cst.SimpleStatementLine) or len(found.body) != 1:
        return None
    only = found.body[0]
    if not isinstance(only, cst.Expr) or names_in(only) & own_names(callee.function):
        return None
    if len(source.siblings(found)) < 2 or source.parent(found) is not callee.function.body:
        return None
    changes: dict[cst.CSTNode, object] = {found: cst.RemoveFromParent()}
    for call in callee.calls:
        home = next(source.enclosing(call, cst.SimpleStatementLine), None)
        if home is None or home in changes:
            return None
        assert isinstance(home, cst.SimpleStatementLine)
        moved = cst.SimpleStatementLine([only.deep_clone()], leading_lines=home.leading_lines)
        changes[home] = cst.FlattenSentinel([moved, home.with_changes(leading_lines=())])
    return source.with_changes(changes)  # type: ignore[arg-type]


def _callee(source: Source, line: int) -> _Callee | None:
    """The module's function that has this line; None where not all of its calls are known."""
    torch = torch_name(source)
    around = source.statement_at(line)
    function = None if around is None else next(source.enclosing(around, cst.FunctionDef), None)
    if (
        torch is None
        or not isinstance(function, cst.FunctionDef)
        or source.parent(function) is not source.module
    ):
        return None
    names = {function.name.value}
    uses = [node for node in source.names() if node.value in names and node is not function.name]
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
    for node in source.names():
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
    """Calls on the line that use nothing that the function makes and are not torch's, outermost first."""
    own = own_names(callee.function) - _parameters_kept(callee.function)
    for each in source.expressions_at(line):
        if isinstance(each, cst.Call) and not names_in(each) & own:
            first = (dotted(each.func) or "").partition(".")[0]
            # In a loop it is made anew each time, which the callers cannot do.
            around = next(source.enclosing(each, cst.FunctionDef, *_REPEATED), None)
            if first and first != torch_name(source) and around is callee.function:
                yield each


def _parameters_kept(function: cst.FunctionDef) -> set[str]:
    """The names of its parameters that get no other value in it."""
    parameters = [each.name.value for each in function.params.params]
    return set(parameters) - own_names(function.body)


def _with_arguments(
    source: Source, callee: _Callee, call: cst.Call, moved: cst.Call
) -> cst.BaseExpression | None:
    """The moved call with what this call gives for the parameters; None where that is not plain."""
    positions = [each.name.value for each in callee.function.params.params]
    given: dict[str, cst.BaseExpression] = {}
    for position, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None:
            given[argument.keyword.value] = argument.value
        elif position < len(positions):
            given[positions[position]] = argument.value
    used = names_in(moved) & _parameters_kept(callee.function)
    if used & _names_of_parts(moved):
        return None
    if not used <= set(given) or any(contains(given[name], cst.Call, cst.Await) for name in used):
        return None  # a default; or what would be calculated twice
    changed = moved.deep_clone().visit(_Put({name: given[name] for name in used}))
    return changed if isinstance(changed, cst.BaseExpression) else None


def _names_of_parts(call: cst.Call) -> set[str]:
    """Names that stand for no value: of attributes, and of arguments by name."""
    found: set[str] = set()

    class Look(cst.CSTVisitor):
        def visit_Attribute(self, node: cst.Attribute) -> None:
            found.add(node.attr.value)

        def visit_Arg(self, node: cst.Arg) -> None:
            if node.keyword is not None:
                found.add(node.keyword.value)

    call.visit(Look())
    return found


class _Put(cst.CSTTransformer):
    def __init__(self, values: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._values = values

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        value = self._values.get(updated_node.value)
        return updated_node if value is None else value.deep_clone()


def _name_for(source: Source, call: cst.Call) -> str | None:
    """What the argument is called: as what it is assigned to, or else after the function that is called."""
    parent = source.parent(call)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        target = parent.targets[0].target
        if isinstance(target, cst.Name):
            return f"{target.value}_given"
    name = f"{(dotted(call.func) or 'value').rpartition('.')[2]}_given"
    return None if name in names_in(source.module) else name
