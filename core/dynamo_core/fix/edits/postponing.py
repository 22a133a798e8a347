"""Postpone a statement that is left to Python: what does not need it comes first, and stays in one graph.

One that others need comes first instead, where it needs none of them.
"""

from collections.abc import Sequence

import libcst as cst

from .analysis import CLOCKS, Flow, calls_outside_torch, flow_of, has_effects, is_in_place
from .source import Source, Statement, alone_in, contains, dotted, names_in, nodes, statement

# What decides whether the statements behind it run, or what their names mean.
_DECIDES = (
    cst.Return,
    cst.Break,
    cst.Continue,
    cst.Yield,
    cst.Await,
    cst.Del,
    cst.Global,
    cst.Nonlocal,
    cst.NamedExpr,
)
_RETURNED = "returned"


def postponed(
    source: Source, block: Sequence[cst.CSTNode], alone: Statement
) -> tuple[list[Statement], set[str]]:
    """The statements of a block with `alone`, and those that need it, as late as possible; the new names.

    Else `alone` as early as possible. They keep their order where one might change what another reads.
    """
    statements = [each for each in block if isinstance(each, cst.BaseStatement)]
    as_they_are = statements, set[str]()
    at = next(
        (at for at, each in enumerate(statements) if each is alone or source.is_inside(alone, each)), None
    )
    if at is None or contains(statements[at], *_DECIDES):
        return as_they_are
    if _can_be_first(source, statements[:at], statements[at]):
        first = _with_what_it_is_for(source, statements, at)
        as_they_are = [*first, *(each for each in statements if each not in first)], set[str]()
    behind, names = _with_value_apart(source, statements[at + 1 :])
    late, early = [statements[at]], list[Statement]()
    for each in behind:
        returns = isinstance(alone_in(each), cst.Return)
        if contains(each, *_DECIDES, cst.Raise, cst.Try) and not returns:
            return as_they_are
        if returns or isinstance(alone_in(each), cst.Expr) or _needs(source, each, late):
            late.append(each)
        elif _sets_parts(each):
            return as_they_are
        else:
            early.append(each)
    if names and behind[-2] in late:  # what is returned needs the line
        late, names = [*late[:-2], statements[-1]], set()
    return ([*statements[:at], *early, *late], names) if early else as_they_are


def _with_value_apart(source: Source, behind: Sequence[Statement]) -> tuple[list[Statement], set[str]]:
    """The statements, with what the last one returns calculated on a line of its own; its name."""
    small = alone_in(behind[-1]) if behind else None
    value = small.value if isinstance(small, cst.Return) else None
    is_calculated = value is not None and contains(value, cst.Call, cst.BinaryOperation, cst.Subscript)
    if value is None or not is_calculated or _RETURNED in names_in(source.module):
        return list(behind), set()
    calculated = statement(f"{_RETURNED} = {source.text_of(value)}", behind[-1])
    return [*behind[:-1], calculated, statement(f"return {_RETURNED}")], {_RETURNED}


def _can_be_first(source: Source, before: Sequence[Statement], alone: Statement) -> bool:
    """Whether a line that gives something needs nothing of what is calculated before it without an effect."""
    flow, earlier = _flow(source, [alone]), _flow(source, before)
    gives = alone_in(alone) is not None and bool(flow.possible) and bool(earlier.possible)
    needs_them = (flow.read | flow.possible) & earlier.possible or flow.possible & earlier.read
    names = earlier.read | earlier.possible
    return (
        gives
        and not needs_them
        and not names_in(alone) & CLOCKS
        and not any(
            contains(each, *_DECIDES, cst.Raise) or _sets_parts(each) or calls_outside_torch(each, names)
            for each in before
        )
    )


def _with_what_it_is_for(source: Source, statements: Sequence[Statement], at: int) -> list[Statement]:
    """The line and those right behind it that need only what it gives: a file is read, and closed."""
    earlier, found = _flow(source, statements[:at]), [statements[at]]
    for each in statements[at + 1 :]:
        flow = _flow(source, [each])
        if contains(each, cst.Return) or not flow.read & _flow(source, found).possible:
            break
        if (flow.read | flow.possible) & (earlier.possible | earlier.read):
            break
        found.append(each)
    return found


def _needs(source: Source, later: Statement, late: Sequence[Statement]) -> bool:
    """Whether a statement reads what one of `late` gives or may change, or gives what one of them reads."""
    flow, before = _flow(source, [later]), _flow(source, late)
    if flow.read & before.possible or flow.possible & (before.read | before.possible):
        return True
    changed = {name for each in late for name in _may_be_changed(each)}
    read = {name for each in nodes(later) if isinstance(each, cst.BaseExpression) and (name := dotted(each))}
    whole = _given_whole(source, later)
    return bool(changed & read) or any(name.startswith(f"{each}.") for name in changed for each in whole)


def _flow(source: Source, statements: Sequence[Statement]) -> Flow:
    return flow_of("".join(source.text_of(each) for each in statements))


def _may_be_changed(node: Statement) -> set[str]:
    """What it sets a part of, or calls a method of other than to calculate: `self.seen`, `losses`."""
    found = {dotted(each.value) for each in _parts_set(node)}
    for call in nodes(node):
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
            owner = dotted(call.func.value) or ""
            is_alone = getattr(alone_in(node), "value", None) is call
            if is_alone or "." in owner or owner == "self" or has_effects(call):
                found.add(owner)
    return {name for name in found if name}


def _parts_set(node: Statement) -> list[cst.Attribute | cst.Subscript]:
    """`self.a` of `self.a = x`, `x[0]` of `x[0] += 1`."""
    targets = [each.target for each in nodes(node) if isinstance(each, cst.AssignTarget | cst.AugAssign)]
    return [
        each
        for target in targets
        for each in nodes(target)
        if isinstance(each, cst.Attribute | cst.Subscript)
    ]


def _sets_parts(node: Statement) -> bool:
    """Whether it changes a tensor or an object in place, which what comes before it may have read."""
    calls = (each for each in nodes(node) if isinstance(each, cst.Call))
    return bool(_parts_set(node)) or contains(node, cst.AugAssign) or any(map(is_in_place, calls))


def _given_whole(source: Source, node: Statement) -> set[str]:
    """The objects that it gives to a call, or one of the module's own methods of which it calls."""
    methods = {each.name.value for each in source.every(cst.FunctionDef)}
    arguments = {dotted(each.value) for each in nodes(node) if isinstance(each, cst.Arg)}
    called = [each.func for each in nodes(node) if isinstance(each, cst.Call)]
    owners = {
        dotted(each.value)
        for each in called
        if isinstance(each, cst.Attribute) and each.attr.value in methods
    }
    return {name for name in arguments | owners if name}
