"""Split a compiled function: the code around a line is compiled, and the line itself is left to Python.

The function keeps its name and its arguments, and is no longer compiled itself. Each sequence of computing
statements in it becomes a compiled function of its own. Callers see no difference.
"""

import itertools
from collections.abc import Sequence

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .analysis import Compilation, changes_in_place, compilation_of
from .division import Division, DoesNotFit, Part
from .hoisting import own_names
from .source import (
    Put,
    Source,
    Statement,
    called_name,
    contains,
    dotted,
    expression,
    keyword_argument,
    names_in,
    nodes,
    replaced,
    statement,
    torch_name,
    with_keywords,
)

# Syntax that means something else when moved to another function, or whose meaning the text does not show.
_BOUND_TO_ITS_FUNCTION = (
    cst.Yield,
    cst.Await,
    cst.Global,
    cst.Nonlocal,
    cst.Del,
    cst.Match,
    cst.FunctionDef,  # inner functions see later values of its names
    cst.NamedExpr,
)
_CALCULATES = cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Comparison
_KNOWN_NAMES = {"torch", "compile", "True", "False", "None"}
_MOST_CALLS = 20  # from the compiled function to the line; two that call each other have no end
_BOUND_NAMES = {"super", "__class__", "locals", "vars", "dir", "eval", "exec", "currentframe", "_getframe"}


def compiled_around(text: str, line: int) -> str | None:
    """The source with the function compiled in parts around the statement on this line.

    Where a compiled function calls that one at one place, it is compiled in parts around that call as well.
    """
    around = _around_in_callers(text, line)
    return None if around is None else around.text


def compiled_around_function(text: str, line: int) -> str | None:
    """The source with the compiled function that leads to this line in parts around a call that does.

    What is called there is left to Python as a whole: the function of the line, else one that leads to it.
    """
    found = _around_function(text, line)
    return None if found is None else found[0].text


def compiled_around_function_and_called(text: str, line: int) -> str | None:
    """The source as by `compiled_around_function`, with what is called in Python alone compiled by itself.

    These are plain functions of the file, which torch compiles as well where their caller runs eager.
    """
    found = _around_function(text, line)
    if found is None:
        return None
    around, function = found
    source = Source(around.text)
    left = [each for each in source.every(cst.FunctionDef) if each.deep_equals(function)]
    decorator = around.compiled.decorator
    if len(left) != 1 or not names_in(decorator) <= _KNOWN_NAMES | _names_of_keywords(decorator):
        return around.text
    compiled = [
        each
        for each in source.module.body
        if isinstance(each, cst.FunctionDef) and _is_called_in(source, each, left[0])
    ]
    changes: dict[cst.CSTNode, Put] = {
        each: each.with_changes(decorators=[decorator.deep_clone()]) for each in compiled
    }
    return source.with_changes(changes)


def _names_of_keywords(node: cst.CSTNode) -> set[str]:
    return {each.keyword.value for each in nodes(node) if isinstance(each, cst.Arg) and each.keyword}


def _is_called_in(source: Source, function: cst.FunctionDef, caller: cst.FunctionDef) -> bool:
    """Whether a plain function calculates, and its only uses are calls in this one."""
    name = function.name.value
    uses = [each for each in source.every(cst.Name) if each.value == name and each is not function.name]
    are_calls = all(
        isinstance(call := source.parent(each), cst.Call)
        and call.func is each
        and source.is_inside(each, caller)
        for each in uses
    )
    is_plain = not function.decorators and function.asynchronous is None
    return bool(uses) and are_calls and is_plain and contains(function.body, *_CALCULATES)


def _around_function(text: str, line: int) -> "tuple[_Around, cst.FunctionDef] | None":
    """The source in parts around a call that leads to the line, and the function that is called there."""
    source = Source(text)
    for _ in range(_MOST_CALLS):
        function = source.function_at(line)
        call = None if function is None or _find(text, line) is not None else _only_call(source, function)
        if function is None or call is None:
            return None
        line = source.range_of(call).start.line
        around = _around_in_callers(text, line, called_name(call))
        if around is not None:
            return around, function
    return None


@dataclass(frozen=True)
class _Around:
    """A source with functions compiled in parts around a line, and how the parts are compiled."""

    text: str
    compiled: Compilation


def _around_in_callers(text: str, line: int, called: str | None = None) -> _Around | None:
    """Compiled in parts around the line, or around the call on it of the function `called`."""
    found = _find(text, line)
    if found is not None:
        split = _split(found, found.line, called)
        return None if split is None else _Around(split, found.compiled)
    source = Source(text)
    function = source.function_at(line)
    call = None if function is None else _only_call(source, function)
    if function is None or call is None:
        return None
    outer = _around_in_callers(text, source.range_of(call).start.line, called_name(call))
    if outer is None or _is_context(function):
        return outer
    changed = Source(outer.text)
    same = [each for each in changed.every(cst.FunctionDef) if each.deep_equals(function)]
    if len(same) != 1:
        return None
    moved = changed.range_of(same[0]).start.line - source.range_of(function).start.line
    found = _find(outer.text, line + moved, Compilation({}, outer.compiled.decorator))
    division = None if found is None else _division(found, found.line, called)
    if found is None or division is None:
        return None
    # Where nothing is computed beside the line that is given on, all there is to compile is in the caller.
    split = _split(found, found.line, called) if any(each.gives for each in division.parts) else None
    return outer if split is None else _Around(split, outer.compiled)


def _is_attribute(source: Source, node: cst.Name) -> bool:
    around = source.parent(node)
    return isinstance(around, cst.Attribute) and around.attr is node


def _only_call(source: Source, function: cst.FunctionDef) -> cst.Call | None:
    """The only use of this function's name in the module: its call, from another function.

    Of a `forward` or `__call__`, the only call of the only one that is made, or of those in the only list.
    Of what a `with` calls, the only call that makes such a context.
    """
    name = function.name.value
    home = next(source.enclosing(function, cst.ClassDef), None)
    if name in ("forward", "__call__"):
        return _only_call_of_module(source, function)
    if home is not None and name in ("__enter__", "__exit__"):
        made = [each for each in source.every(cst.Call) if called_name(each) == home.name.value]
        return made[0] if len(made) == 1 else None
    uses = [
        node
        for node in source.every(cst.Name)
        if node.value == name
        and node is not function.name
        and _is_attribute(source, node) == (home is not None)
    ]
    calls = [each for each in source.every(cst.Call) if called_name(each) == name]
    return calls[0] if len(calls) == 1 == len(uses) and not source.is_inside(calls[0], function) else None


def _is_context(function: cst.FunctionDef) -> bool:
    """Whether it is entered by a `with`, and has nothing to compile."""
    return function.name.value in ("__enter__", "__exit__") or contains(function.body, cst.Yield)


def _only_call_of_module(source: Source, forward: cst.FunctionDef) -> cst.Call | None:
    home = next(source.enclosing(forward, cst.ClassDef), None)
    if home is None:
        return None
    made = [each for each in source.every(cst.Call) if called_name(each) == home.name.value]
    target = _kept_as(source, made[0]) if len(made) == 1 else None
    attribute = dotted(target) if target is not None else None
    if attribute is not None and not attribute.startswith("self."):
        attribute = _attribute_given(source, attribute)
    if attribute is None:
        return None
    loops = (each for each in source.every(cst.For) if attribute in map(dotted, _expressions_in(each.iter)))
    names = {attribute, *(name for loop in loops for name in names_in(loop.target))}
    calls = [each for each in source.every(cst.Call) if dotted(each.func) in names]
    return calls[0] if len(calls) == 1 and not source.is_inside(calls[0], forward) else None


def _kept_as(source: Source, made: cst.Call) -> cst.BaseExpression | None:
    """What the new object is assigned to, alone or as one of several: `self.a, self.b = A(), B()`."""
    kept = next(source.enclosing(made, cst.Assign), None)
    if kept is None:
        return None
    match kept.targets[0].target, kept.value:
        case cst.Tuple(elements=targets), cst.Tuple(elements=values):
            pairs = zip(targets, values, strict=False)
            return next((a.value for a, b in pairs if made is b.value or source.is_inside(made, b)), None)
        case target, _:
            return target
    return None


def _attribute_given(source: Source, name: str) -> str | None:
    """What keeps an object that a class is given: `self.log`, by `Net(log)` and `self.log = log`."""
    kept = [
        dotted(assigned.targets[0].target)
        for assigned in source.every(cst.Assign)
        if isinstance(assigned.value, cst.Name) and _is_given(source, assigned.value, name)
    ]
    return kept[0] if len(kept) == 1 and (kept[0] or "").startswith("self.") else None


def _is_given(source: Source, parameter: cst.Name, name: str) -> bool:
    """Whether the only object of a class is made with `name` for this parameter of its `__init__`."""
    function = next(source.enclosing(parameter, cst.FunctionDef), None)
    home = next(source.enclosing(parameter, cst.ClassDef), None)
    if function is None or home is None or function.name.value != "__init__":
        return False
    made = [each for each in source.every(cst.Call) if called_name(each) == home.name.value]
    names = [each.name.value for each in function.params.params[1:]]
    arguments = made[0].args if len(made) == 1 else ()
    given = zip(names, arguments, strict=False)
    at = {each.keyword.value if each.keyword else place: each.value for place, each in given}
    return parameter.value in at and dotted(at[parameter.value]) == name


def _expressions_in(node: cst.CSTNode) -> list[cst.BaseExpression]:
    return [each for each in nodes(node) if isinstance(each, cst.BaseExpression)]


def decided_outside(text: str, line: int, name: str | None = None) -> str | None:
    """The source with the function compiled in parts for dynamic sizes, around the line that depends on one.

    With the name of an argument, an expression of it alone on the line is evaluated before the rest.
    """
    found = _find(text, line)
    return None if found is None else _split(found, found.line, name, dynamic=True)


def made_first(text: str, line: int, first: str | None = None) -> str | None:
    """The source with a statement, such as `x = x.contiguous()`, before all compiled parts."""
    found = _find(text, _line_in_function(text, line))
    if found is None or first is None or torch_name(found.source) != "torch":
        return None
    name = first.partition(" = ")[0]
    required = [each.name.value for each in found.function.params.params if each.default is None]
    if name not in required or changes_in_place(found.function):
        return None  # the statement may copy, and then the caller's tensor would not change in place
    return _split(found, statement(first))


def _line_in_function(text: str, line: int) -> int:
    """The line; of one that begins a function, where what is called there differs, the first of its body."""
    source = Source(text)
    around = source.statement_at(line)
    inside = around.body.body if isinstance(around, cst.FunctionDef) else ()
    return source.range_of(inside[0]).start.line if inside else line


@dataclass(frozen=True)
class _Found:
    """The statement on a line, its function, and how the function is compiled."""

    source: Source
    line: Statement
    function: cst.FunctionDef
    compiled: Compilation


def _find(text: str, line: int, compiled: Compilation | None = None) -> _Found | None:
    """The statement on a line, if its function can be split; `compiled` as it says, where it is known."""
    source = Source(text)
    around, function = source.statement_at(line), source.function_at(line)
    if around is None or function is None:
        return None
    compiled = compiled or compilation_of(source, function)
    is_bound = (
        contains(function.body, *_BOUND_TO_ITS_FUNCTION)
        or names_in(function) & _BOUND_NAMES
        or any(name.startswith("__") and not name.endswith("__") for name in names_in(function))
        or _has_late_binding(source, function)
        or len(list(source.enclosing(function, cst.ClassDef, cst.FunctionDef))) > 1
    )
    is_plain = function.asynchronous is None and isinstance(function.body, cst.IndentedBlock)
    return (
        None if compiled is None or is_bound or not is_plain else _Found(source, around, function, compiled)
    )


_USED_UP_BY = ("sum", "any", "all", "list", "tuple", "set", "dict", "sorted", "max", "min")


def _has_late_binding(source: Source, function: cst.FunctionDef) -> bool:
    """Whether a lambda or generator uses a local name, whose later values it sees as well."""
    later = (
        each
        for each in nodes(function.body)
        if isinstance(each, cst.Lambda | cst.GeneratorExp) and not _is_used_up(source, each)
    )
    return bool(
        {name for each in later for name in names_in(each) - own_names(each)} & own_names(function.body)
    )


def _is_used_up(source: Source, node: cst.CSTNode) -> bool:
    """Whether it is a generator that the call around it takes all values of."""
    argument = source.parent(node)
    call = source.parent(argument) if isinstance(argument, cst.Arg) else None
    is_generator = isinstance(node, cst.GeneratorExp)
    return is_generator and isinstance(call, cst.Call) and dotted(call.func) in _USED_UP_BY


def _division(found: _Found, alone: Statement, name: str | None) -> Division | None:
    try:
        return Division(found.source, found.function, alone, name)
    except DoesNotFit:
        return None


def _split(found: _Found, alone: Statement, name: str | None = None, *, dynamic: bool = False) -> str | None:
    division = _division(found, alone, name)
    if division is None or not division.parts:
        return None
    decorator = _with_dynamic(found.compiled.decorator) if dynamic else found.compiled.decorator
    parts = [_function_of(each, decorator) for each in division.parts]
    return _assemble(found, division.body, parts)


def _assemble(found: _Found, body: Sequence[cst.BaseStatement], parts: Sequence[cst.FunctionDef]) -> str:
    source, function, without = found.source, found.function, found.compiled.without
    caller = function.with_changes(
        body=function.body.with_changes(body=body),
        decorators=[each for each in function.decorators if each not in without],
    )
    home = next(source.enclosing(function, cst.ClassDef), None) or function
    others = {node: put for node, put in without.items() if not isinstance(node, cst.Decorator)}
    whole = replaced(home, {function: caller, **others})
    assert isinstance(whole, cst.FunctionDef | cst.ClassDef)
    empty = list(itertools.takewhile(lambda each: each.comment is None, whole.leading_lines))
    whole = whole.with_changes(leading_lines=[*_two_empty_lines(), *whole.leading_lines[len(empty) :]])
    first = parts[0].with_changes(leading_lines=empty)
    return source.with_changes({home: cst.FlattenSentinel([first, *parts[1:], whole]), **others})


def _function_of(part: Part, decorator: cst.Decorator) -> cst.FunctionDef:
    first, *rest = part.body
    comments = [each for each in getattr(first, "leading_lines", ()) if each.comment is not None]
    return cst.FunctionDef(
        cst.Name(part.name),
        cst.Parameters([cst.Param(cst.Name(each)) for each in part.inputs]),
        cst.IndentedBlock([first.with_changes(leading_lines=comments), *rest]),
        [decorator.deep_clone()],
        leading_lines=_two_empty_lines(),
    )


def _with_dynamic(decorator: cst.Decorator) -> cst.Decorator:
    node = decorator.decorator
    call = node if isinstance(node, cst.Call) else cst.Call(node)
    return cst.Decorator(with_keywords(call, [keyword_argument("dynamic", expression("True"))]))


def _two_empty_lines() -> list[cst.EmptyLine]:
    """The empty lines between two functions."""
    return [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
