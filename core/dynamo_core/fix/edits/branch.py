"""`if` on a tensor's value → `torch.where`: both sides are computed, and the value is chosen in the graph.

Only where each side just assigns values to plain names, or one to an attribute of `self`, or returns one:
anything else (a print, a call for its effect, an item assignment) would then be done in every case.
"""

from collections.abc import Mapping, Sequence

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .analysis import changes_in_place, may_have_effects
from .source import (
    Put,
    Source,
    alone_in,
    called_name,
    contains,
    dotted,
    expression,
    names_in,
    nodes,
    statement,
    substituted,
    torch_name,
)

_OPERATORS = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.MatrixMultiplyAssign: "@",
    cst.PowerAssign: "**",
}


def branch_to_where(text: str, line: int) -> str | None:
    """The source with the `if`, or the conditional expression, on this line replaced by `torch.where`."""
    source = Source(text)
    if torch_name(source) != "torch":
        return None
    found = source.statement_at(line)
    if isinstance(found, cst.If):
        lines = _statement_to_where(source, found)
        return None if lines is None else source.with_changes(lines)
    for node in source.expressions_at(line):
        if isinstance(node, cst.IfExp):
            if may_have_effects(node) or _may_lose_gradients(source, node):
                return None
            chosen = _where(source, node.test, source.text_of(node.body), source.text_of(node.orelse))
            return source.with_changes({node: expression(chosen)})
    return None


def assert_of_one_condition(text: str, line: int) -> str | None:
    """The source with `assert a and not b` on this line as one torch condition, which stays in the graph."""
    source = Source(text)
    only = alone_in(source.statement_at(line))
    if torch_name(source) != "torch" or not isinstance(only, cst.Assert):
        return None
    if not contains(only.test, cst.BooleanOperation, cst.Not):
        return None
    return source.with_changes({only.test: expression(_condition(source, only.test))})


def conditions_as_one(text: str, line: int) -> str | None:
    """The source with `return a and b` on this line, or `c = a and b`, as one tensor: `(a) & (b)`."""
    source = Source(text)
    only = alone_in(source.statement_at(line))
    value = only.value if isinstance(only, cst.Return | cst.Assign) else None
    if torch_name(source) != "torch" or not isinstance(value, cst.BooleanOperation):
        return None
    return source.with_changes({value: expression(_joined(source, value))})


def _joined(source: Source, test: cst.BaseExpression) -> str:
    if not isinstance(test, cst.BooleanOperation):
        return _condition(source, test)
    between = "&" if isinstance(test.operator, cst.And) else "|"
    return f"({_joined(source, test.left)}) {between} ({_joined(source, test.right)})"


def _has_in_place_changes(source: Source, branch: cst.If) -> bool:
    """Whether the function around the branch changes tensors in place, perhaps one that a side names."""
    function = next(source.enclosing(branch, cst.FunctionDef), None)
    return function is not None and changes_in_place(function)


# Functions whose gradient is infinite or undefined for some values.
_UNDEFINED = ("log", "sqrt", "rsqrt", "pow", "div", "reciprocal", "acos", "asin", "norm", "normalize")


def _may_lose_gradients(source: Source, branch: cst.CSTNode) -> bool:
    """Whether a gradient may be NaN by the side that is not chosen: `x / n`, where `n` is 0 for the other."""
    called = names_in(source.module)
    function = next(source.enclosing(branch, cst.FunctionDef), None)
    is_itself_of_gradients = function is not None and function.name.value == "backward"
    if not called & ({"create_graph"} if is_itself_of_gradients else {"backward", "grad"}):
        return False
    return contains(branch, cst.Divide, cst.DivideAssign, cst.Power, cst.PowerAssign) or any(
        isinstance(each, cst.Call) and called_name(each) in _UNDEFINED for each in nodes(branch)
    )


@dataclass(frozen=True)
class _Side:
    """What one side of a branch does: the values of names, in order, or what it returns."""

    assigned: dict[str, str]
    returned: str | None = None


def _asked_of_python(source: Source, branch: cst.If) -> tuple[cst.BaseExpression | None, cst.BaseExpression]:
    """What the test asks of Python alone before it asks a tensor, if anything, and the rest of it."""
    test = branch.test
    if not isinstance(test, cst.BooleanOperation) or not isinstance(test.operator, cst.And):
        return None, test
    function = next(source.enclosing(branch, cst.FunctionDef), None)
    given = set() if function is None else {each.name.value for each in function.params.params}
    return (test.left, test.right) if _is_of_python(test.left, given) else (None, test)


_OF_PYTHON = ("training", "dtype", "device", "ndim", "shape", "requires_grad")


def _is_of_python(node: cst.BaseExpression, given: set[str]) -> bool:
    """Whether it is, most often, no tensor: a dtype, whether something is None, a name that was `given`."""
    match node:
        case cst.BooleanOperation(left=left, right=right):
            return _is_of_python(left, given) and _is_of_python(right, given)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _is_of_python(inner, given)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot())]):
            return True
        case cst.Comparison(left=left):
            return any(
                isinstance(each, cst.Attribute) and each.attr.value in _OF_PYTHON for each in nodes(left)
            )
        case cst.Call(func=cst.Name(value="isinstance" | "len" | "hasattr" | "callable")):
            return True
    return isinstance(node, cst.Attribute) or (isinstance(node, cst.Name) and node.value in given)


def _statement_to_where(source: Source, branch: cst.If) -> dict[cst.CSTNode, Put] | None:
    """What the branch, and the `return` behind it, become; None where it has to stay."""
    if (
        may_have_effects(branch)
        or _has_in_place_changes(source, branch)
        or _may_lose_gradients(source, branch)
    ):
        return None
    asked, test = _asked_of_python(source, branch)
    if asked is not None and branch.orelse is not None:
        return None
    then = _side(source, _block(branch.body))
    if then is None:
        return None
    rest = None
    if branch.orelse is None and then.returned is not None:
        rest = _next_statement(source, branch)
        other = None if rest is None else _side(source, [rest])
    elif branch.orelse is None:
        other = _Side({})
    elif isinstance(branch.orelse, cst.Else):
        other = _side(source, _block(branch.orelse.body))
    else:
        other = None  # elif: a chain of conditions
    if other is None or (then.returned is None) != (other.returned is None):
        return None
    if then.returned is not None and other.returned is not None:
        if then.assigned or other.assigned:
            return None
        if rest is not None and (may_have_effects(rest) or _may_lose_gradients(source, rest)):
            return None
        chosen = statement(f"return {_where(source, test, then.returned, other.returned)}")
        changes: dict[cst.CSTNode, Put] = {branch: _where_asked(branch, asked, [chosen])}
        if rest is not None and asked is None:
            changes[rest] = cst.RemoveFromParent()
        return changes
    names = [
        name
        for name in dict.fromkeys([*then.assigned, *other.assigned])
        if "." in name or _is_used_elsewhere(source, branch, name)
    ]
    if not names or names_in(test) & set(names[:-1]):
        return None  # the condition would be evaluated again with changed values
    if len(names) > 1 and any("." in name for name in names):
        return None  # an attribute may be another one's value
    lines: list[cst.SimpleStatementLine] = []
    for name in names:
        values = then.assigned.get(name, name), other.assigned.get(name, name)
        if any(names_in(expression(value)) & set(names[: len(lines)]) for value in values):
            return None  # it would be computed from changed values
        lines.append(statement(f"{name} = {_where(source, test, *values)}"))
    return {branch: _where_asked(branch, asked, lines)}


def _where_asked(
    branch: cst.If, asked: cst.BaseExpression | None, lines: Sequence[cst.SimpleStatementLine]
) -> Put:
    """The lines in place of the branch, in an `if` on what is asked of Python."""
    if asked is not None:
        return branch.with_changes(test=asked, body=cst.IndentedBlock(lines))
    return cst.FlattenSentinel([lines[0].with_changes(leading_lines=branch.leading_lines), *lines[1:]])


def _is_used_elsewhere(source: Source, branch: cst.If, name: str) -> bool:
    """Whether the function uses the name outside of the branch too."""
    function = next(source.enclosing(branch, cst.FunctionDef), None)
    if function is None:
        return True  # other modules may use a global one
    uses = [each for each in nodes(function) if isinstance(each, cst.Name) and each.value == name]
    return any(not source.is_inside(each, branch) for each in uses)


def _side(source: Source, statements: Sequence[cst.CSTNode]) -> _Side | None:
    """What these statements assign or return; None where they do anything else."""
    assigned: dict[str, str] = {}
    for line in statements:
        if not isinstance(line, cst.SimpleStatementLine):
            return None
        for small in line.body:
            if isinstance(small, cst.Return) and small.value is not None:
                return None if assigned else _Side({}, source.text_of(small.value))
            pair = _assignment(source, small)
            if pair is None or pair[0] in assigned:
                return None
            value = _with_former_values(expression(pair[1]), assigned)
            if value is None:
                return None
            assigned[pair[0]] = source.text_of(value)
    return _Side(assigned) if assigned else None


def _with_former_values(value: cst.BaseExpression, assigned: Mapping[str, str]) -> cst.BaseExpression | None:
    """The value with what was assigned before in place of its names."""
    used = names_in(value) & set(assigned)
    return substituted(value, {name: expression(f"({assigned[name]})") for name in used})


def _assignment(source: Source, small: cst.BaseSmallStatement) -> tuple[str, str] | None:
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target = dotted(small.targets[0].target) or ""
        if target.removeprefix("self.").isidentifier():
            return target, source.text_of(small.value)
    if isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
        sign = _OPERATORS.get(type(small.operator))
        if sign is not None:
            return small.target.value, f"{small.target.value} {sign} {_grouped(source, small.value)}"
    return None


def _grouped(source: Source, node: cst.BaseExpression) -> str:
    text = source.text_of(node)
    is_whole = isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.BaseNumber | cst.Subscript)
    return text if is_whole else f"({text})"


def _where(source: Source, test: cst.BaseExpression, then: str, otherwise: str) -> str:
    """The call of `torch.where`."""
    return f"torch.where({_condition(source, test)}, {then}, {otherwise})"


def _condition(source: Source, test: cst.BaseExpression) -> str:
    """The test as one tensor: `and`, `or` and `not` would ask each part for a truth value, as `if` does."""
    if isinstance(test, cst.BooleanOperation):
        name = "logical_and" if isinstance(test.operator, cst.And) else "logical_or"
        return f"torch.{name}({_condition(source, test.left)}, {_condition(source, test.right)})"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return f"torch.logical_not({_condition(source, test.expression)})"
    if isinstance(test, cst.Comparison):
        first = test.comparisons[0]
        if len(test.comparisons) == 1 and isinstance(first.operator, cst.In):
            return f"({source.text_of(first.comparator)} == {source.text_of(test.left)}).any()"
        compared = test.visit(_WithoutItem())
        return source.text_of(compared if isinstance(compared, cst.Comparison) else test)
    if isinstance(test, cst.Call) and isinstance(test.func, cst.Attribute):
        called = test.func.attr.value
        if called == "item" and not test.args:
            return _condition(source, test.func.value)
        if called in ("any", "all", "isnan", "isinf", "isfinite", "allclose", "equal"):
            return source.text_of(test)
    return f"({source.text_of(test)}) != 0"


class _WithoutItem(cst.CSTTransformer):
    """Removes calls of `item()`: a value that is only compared can stay a tensor."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        function = updated_node.func
        is_item = isinstance(function, cst.Attribute) and function.attr.value == "item"
        return function.value if is_item and isinstance(function, cst.Attribute) else updated_node


def _block(body: cst.BaseSuite) -> Sequence[cst.CSTNode]:
    return body.body if isinstance(body, cst.IndentedBlock) else [cst.SimpleStatementLine(list(body.body))]  # type: ignore[arg-type]


def _next_statement(source: Source, branch: cst.If) -> cst.BaseStatement | None:
    """The statement after the branch in its block."""
    siblings = list(source.siblings(branch))
    later = siblings[siblings.index(branch) + 1 :] if branch in siblings else []
    return later[0] if later and isinstance(later[0], cst.BaseStatement) else None
