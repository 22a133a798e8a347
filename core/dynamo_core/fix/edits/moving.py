"""What a compiled function does that has nothing to do with tensors, done by whoever calls it.

A call that uses none of the function's own names, or only its parameters, becomes an argument; a statement
that uses none stands in front of the call of the function. Only for functions of a module that are called, or
given to torch.compile, and not handed around otherwise: all of their calls must be known.
"""

from collections.abc import Iterator, Mapping

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .analysis import calls_what_is_not_torchs, nodes
from .hoisting import own_names
from .source import Source, contains, dotted, names_in, torch_name

_WITHIN = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_REPEATED = (cst.For, cst.While, *_WITHIN)
# What stands in these is not done in every case.
_SOMETIMES = (cst.IfExp, cst.BooleanOperation, cst.Assert)
_NOT_TWICE = (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)
_CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "now", "utcnow", "datetime", "default_timer"}


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
        if as_called is None or _means_another(source, call, names_in(moved)):
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
    if not contains(only, cst.Call) or contains(only, cst.Await, cst.Yield, cst.NamedExpr):
        return None
    if len(source.siblings(found)) < 2 or not _is_first_of_its_kind(source, callee, found, only):
        return None
    changes: dict[cst.CSTNode, object] = {found: cst.RemoveFromParent()}
    for call in callee.calls:
        home = next(source.enclosing(call, cst.SimpleStatementLine), None)
        if (
            not isinstance(home, cst.SimpleStatementLine)
            or home in changes
            or _means_another(source, call, names_in(only))
        ):
            return None
        if not _is_done_first(source, call, home):
            return None
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
    if any(
        dotted(each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator)
        != f"{torch}.compile"
        for each in function.decorators
    ):
        return None  # who calls it then is not known
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
                found = source.statement_at(line)
                if found is not None and _is_first_of_its_kind(source, callee, found, each):
                    yield each


def _is_first_of_its_kind(
    source: Source, callee: _Callee, found: cst.BaseStatement, moved: cst.CSTNode
) -> bool:
    """Whether it is done in every call of the function, and nothing before it there could matter to it."""
    if source.parent(found) is not callee.function.body or contains(found, *_SOMETIMES):
        return False
    body = list(callee.function.body.body)
    own = own_names(callee.function)
    before = [each for each in body[: body.index(found)] if isinstance(each, cst.BaseStatement)]
    is_part_of_date = isinstance(source.parent(moved), cst.Attribute)  # `.year`
    reads_clock = bool(names_in(moved) & _CLOCKS) and not is_part_of_date
    used = names_in(moved) & own
    for each in before:
        if contains(each, cst.Return, cst.Raise, cst.Assert, cst.Yield, cst.Await, cst.Global, cst.Del):
            return False
        if calls_what_is_not_torchs(each, own) or names_in(each) & used or _sets_a_part(each):
            return False
        if reads_clock and contains(each, cst.Call, cst.BinaryOperation):
            return False  # it is to say how long that took
    start = source.range_of(moved).start
    earlier = [
        call
        for call in nodes(found)
        if isinstance(call, cst.Call) and not source.is_inside(moved, call) and call is not moved
    ]
    return not any(
        (at.line, at.column) < (start.line, start.column)
        for at in (source.range_of(call).start for call in earlier)
    )


def _sets_a_part(node: cst.CSTNode) -> bool:
    """Whether something that others may see is given a value: an item, an attribute."""
    targets = (each.target for each in nodes(node) if isinstance(each, cst.AssignTarget | cst.AugAssign))
    return any(contains(target, cst.Subscript, cst.Attribute) for target in targets)


def _means_another(source: Source, call: cst.Call, names: set[str]) -> bool:
    """Whether a name of the function's file is another where the function is called."""
    around = source.enclosing(call, cst.FunctionDef, cst.ClassDef, *_WITHIN)
    return any(names & own_names(each) for each in around)


def _is_done_first(source: Source, call: cst.Call, home: cst.SimpleStatementLine) -> bool:
    """Whether the line makes this call once, in every case, and none before it that it could matter to."""
    for each in source.enclosing(call, *_SOMETIMES, *_REPEATED):
        if source.is_inside(each, home):
            return False
    around = list(source.enclosing(call, cst.Call))
    others = [each for each in nodes(home) if isinstance(each, cst.Call) and each is not call]
    end = source.range_of(call).end
    return len(home.body) == 1 and not any(
        each not in around
        and calls_what_is_not_torchs(each, set())
        and source.range_of(each).start.line <= end.line
        and (source.range_of(each).start.line, source.range_of(each).start.column) < (end.line, end.column)
        for each in others
    )


def _parameters_kept(function: cst.FunctionDef) -> set[str]:
    """The names of its parameters that get no other value in it."""
    parameters = [each.name.value for each in function.params.params]
    return set(parameters) - own_names(function.body)


def _with_arguments(
    source: Source, callee: _Callee, call: cst.Call, moved: cst.Call
) -> cst.BaseExpression | None:
    """The moved call with what this call gives for the parameters; None where that is not plain."""
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
    used = names_in(moved) & _parameters_kept(callee.function)
    if used & _names_of_parts(moved):
        return None
    if not used <= set(given) or any(contains(given[name], *_NOT_TWICE) for name in used):
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
            name = f"{target.value}_given"
            return None if name in names_in(source.module) else name
    name = f"{(dotted(call.func) or 'value').rpartition('.')[2]}_given"
    return None if name in names_in(source.module) else name
