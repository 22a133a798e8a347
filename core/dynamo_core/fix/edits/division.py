"""Divide the body of a function: sequences of computing statements, and between them what is left to Python.

An `if`, a loop or a `with` that is left to Python has its blocks divided in the same way. The order of
statements does not change.
"""

import itertools
from collections.abc import Sequence

import libcst as cst
from libcst.metadata import CodePosition

from ...shared.quick_dataclass import dataclass
from .analysis import Flow, flow_of
from .postponing import postponed
from .source import Put, Source, alone_in, called_name, contains, dotted, names_in, nodes, replaced, statement

_CALCULATES = (
    cst.Call,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.Subscript,
    cst.AugAssign,
)
_LEAVES = (cst.Return, cst.Break, cst.Continue)
_BLOCKS = (cst.If, cst.For, cst.While, cst.With, cst.Try)
_IMPORTS = (cst.Import, cst.ImportFrom)
# Nodes whose content is evaluated in some cases only, repeatedly, or is assigned to.
_NOT_ALWAYS = (
    cst.IfExp,
    cst.BooleanOperation,
    cst.Lambda,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
    cst.AssignTarget,
)


class DoesNotFit(Exception):
    """The function cannot be divided: a part would need a name that may be unassigned."""


@dataclass(frozen=True)
class Part:
    """A new function, made of a sequence of statements; whether it gives its caller a value."""

    name: str
    inputs: Sequence[str]
    body: Sequence[cst.BaseStatement]
    gives: bool


class Division:
    """The new `body` of a function whose statement `alone` is left to Python, and the `parts` that it calls.

    With `about`, the name of an argument, an expression of it alone on that line is evaluated before the
    rest of the line. DoesNotFit where a part would need a name that may be unassigned.
    """

    def __init__(
        self, source: Source, function: cst.FunctionDef, alone: cst.BaseStatement, about: str | None = None
    ) -> None:
        self.parts: list[Part] = []
        self._source = source
        self._function = function
        self._alone = alone
        self._about = about
        assert isinstance(function.body, cst.IndentedBlock)
        body = function.body.body
        given = _parameters(function)
        self._locals = given | self._flow(body).possible
        # Names that do not depend on the function's data: a clock's time, an open file.
        self._independent: set[str] = set()
        # Names assigned in statements left to Python: a block whose condition reads them is left to it too.
        self._from_python: set[str] = set()
        self._in_try = False
        is_argument = about in given and about not in self._flow(body).possible
        self._handed_on = about if is_argument else None
        self._handing_on: list[cst.BaseStatement] = []
        is_new = source.is_new(alone)
        first = 1 if function.get_docstring() is not None else 0
        self.body = self._block([*body[:first], alone, *body[first:]] if is_new else body, given, set())

    def _block(
        self, statements: Sequence[cst.CSTNode], bound: set[str], after: set[str]
    ) -> list[cst.BaseStatement]:
        """Divide a block. `bound` names are assigned before it, it adds its own; `after` are read later."""
        done: list[cst.BaseStatement] = []
        run: list[cst.BaseStatement] = []
        statements, added = postponed(self._source, statements, self._alone)
        self._locals |= added
        for number, original in enumerate(statements):
            assert isinstance(original, cst.BaseStatement)
            later = self._read_in(statements[number + 1 :], after)
            pieces = self._simplified(original)
            for at, each in enumerate(pieces, 1):
                if not self._is_left_to_python(each):
                    run.append(each)
                    continue
                after_it = self._read_in(pieces[at:], later)
                done += self._part(run, bound, self._read_in([each], after_it))
                run = []
                done.append(self._divided(each, bound, after_it))
        return done + self._part(run, bound, after)

    def _divided(self, node: cst.BaseStatement, bound: set[str], after: set[str]) -> cst.BaseStatement:
        """A statement that is left to Python, with the blocks in it divided."""
        flow = self._flow([node])
        if not flow.read & (self._locals - self._independent):
            self._independent |= flow.possible
        if isinstance(node, _BLOCKS):
            is_loop = isinstance(node, cst.For | cst.While)
            inside = after | flow.read | flow.possible if is_loop else after
            node = node.with_changes(**self._blocks(node, bound, inside))
        else:
            self._from_python |= flow.possible
        bound |= flow.definite
        if isinstance(node, cst.With) and isinstance(node.body, cst.IndentedBlock):
            # Where it caught an exception, a line behind it that reads such a name fails as it did.
            bound |= self._flow(node.body.body).definite
        return node

    def _blocks(self, node: cst.CSTNode, bound: set[str], after: set[str]) -> dict[str, cst.CSTNode]:
        changed: dict[str, cst.CSTNode] = {}
        within = bound | _assigned_by(node)
        was_in_try = self._in_try
        if isinstance(node, cst.Try):  # its handlers may read a value from any line of it
            after = after | self._flow([node]).possible
            self._in_try = True
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, cst.If | cst.Else | cst.Finally):
                changed[name] = block.with_changes(**self._blocks(block, bound, after))
            elif isinstance(block, cst.IndentedBlock):
                changed[name] = block.with_changes(body=self._block(block.body, set(within), after))
            elif isinstance(block, cst.SimpleStatementSuite) and contains(block, *_CALCULATES):
                line = cst.SimpleStatementLine(block.body)  # `if a: return b` on one line
                changed[name] = cst.IndentedBlock(self._block([line], set(within), after))
        self._in_try = was_in_try
        return changed

    def _simplified(self, node: cst.BaseStatement) -> list[cst.BaseStatement]:
        """The statement, split where it is the one left to Python, so that little is left on that line."""
        small = alone_in(node)
        if small is None:
            return [node]
        if node is not self._alone:
            return self._calculated_before_it_is_handed_on(node, small)
        if isinstance(small, cst.Return | cst.Assign) and isinstance(small.value, cst.IfExp):
            self._alone = _to_if(small, small.value).with_changes(
                leading_lines=getattr(node, "leading_lines", ())
            )
            return [self._alone]
        if self._about is None:
            return [node] if self._source.is_new(node) else self._computed_first(node)
        taken = self._expression_of(self._about, node)
        if taken is None:
            return [node]
        given, alone = self._arguments_first(taken)
        if taken is getattr(small, "value", None):
            self._alone = node.with_changes(body=[small.with_changes(value=alone)]) if given else node
            return [*given, self._alone]
        name = f"{self._about}_chosen"
        if name in names_in(self._source.module):
            raise DoesNotFit
        self._alone = statement(f"{name} = {self._source.text_of(alone)}", None if given else node)
        self._locals |= {name}
        rest = node.with_changes(leading_lines=()).deep_replace(taken, cst.Name(name))
        assert isinstance(rest, cst.BaseStatement)
        return [*given, self._alone, rest]

    def _calculated_before_it_is_handed_on(
        self, node: cst.BaseStatement, small: cst.BaseSmallStatement
    ) -> list[cst.BaseStatement]:
        """The statement, where it only puts the argument beside what it calculates, with that before it.

        `return {"id": name, "out": f(x)}` is left to Python then: what is compiled does not see the argument.
        """
        name = self._handed_on
        value = small.value if isinstance(small, cst.Return | cst.Assign) else None
        parts = None if name is None or value is None else _put_together(value)
        if parts is None or not any(isinstance(each, cst.Name) and each.value == name for each in parts):
            return [node]
        others = [each for each in parts if contains(each, *_CALCULATES)]
        if any(name in names_in(each) for each in others):
            return [node]
        names = [f"beside_{name}_{number}" for number in range(1, len(others) + 1)]
        if names_in(self._source.module) & {*names}:
            raise DoesNotFit
        self._locals |= {*names}
        first = [
            statement(f"{new} = {self._source.text_of(each)}", node if new is names[0] else None)
            for new, each in zip(names, others, strict=True)
        ]
        values: dict[cst.CSTNode, Put] = {
            each: cst.Name(new) for new, each in zip(names, others, strict=True)
        }
        rest = replaced(node.with_changes(leading_lines=()) if first else node, values)
        assert isinstance(rest, cst.BaseStatement)
        self._handing_on.append(rest)
        return [*first, rest]

    def _computed_first(self, node: cst.BaseStatement) -> list[cst.BaseStatement]:
        """The statement, with what it takes a value out of computed before: `x.sum()` of `x.sum().item()`."""
        owners = (owner for each in _expressions(node) if (owner := _value_taken_of(each)) is not None)
        owner = next((each for each in owners if self._can_be_first(each, node)), None)
        if (
            owner is None
            or not contains(owner, *_CALCULATES)
            or "value_given" in names_in(self._source.module)
        ):
            return [node]
        self._locals |= {"value_given"}
        first = statement(f"value_given = {self._source.text_of(owner)}", node)
        rest = node.with_changes(leading_lines=()).deep_replace(owner, cst.Name("value_given"))
        assert isinstance(rest, cst.BaseStatement)
        self._alone = rest
        return [first, rest]

    def _arguments_first(
        self, taken: cst.BaseExpression
    ) -> tuple[list[cst.BaseStatement], cst.BaseExpression]:
        """What the function is given, as statements before its call where that calculates it; the call."""
        arguments = taken.args if isinstance(taken, cst.Call) and called_name(taken) == self._about else ()
        if not any(contains(each.value, *_CALCULATES) for each in arguments):
            return [], taken
        if any(each.star or contains(each.value, *_NOT_ALWAYS) for each in arguments):
            return [], taken
        given: list[cst.BaseStatement] = []
        changed: list[cst.Arg] = []
        for argument in arguments:
            if isinstance(argument.value, cst.Name | cst.BaseNumber | cst.SimpleString):
                changed.append(argument)
                continue
            name = f"{self._about}_given_{len(given) + 1}"
            if name in names_in(self._source.module):
                raise DoesNotFit
            given.append(statement(f"{name} = {self._source.text_of(argument.value)}"))
            changed.append(argument.with_changes(value=cst.Name(name)))
            self._locals |= {name}
        return given, taken.with_changes(args=changed)

    def _expression_of(self, name: str, node: cst.BaseStatement) -> cst.BaseExpression | None:
        """The call of this function; else the outermost expression of this name alone, or with `self`."""
        found = [
            each for each in _expressions(node) if name in names_in(each) and not isinstance(each, cst.Name)
        ]
        alone = [each for each in found if names_in(each) & self._locals <= {name, "self"}]
        calls = [each for each in found if isinstance(each, cst.Call) and called_name(each) == name]
        taken = next(iter([*calls, *alone]), None)
        return None if taken is None or not self._can_be_first(taken, node) else taken

    def _can_be_first(self, taken: cst.BaseExpression, node: cst.BaseStatement) -> bool:
        """Whether it is always evaluated, not assigned to, and its calls would not overtake earlier ones."""
        around = list(self._source.enclosing(taken, *_NOT_ALWAYS, cst.AugAssign, cst.Call))
        if any(isinstance(each, _NOT_ALWAYS) for each in around):
            return False
        if any(isinstance(each, cst.AugAssign) and taken is each.target for each in around):
            return False
        start = self._source.range_of(taken).start
        calls = [each for each in _expressions(node) if isinstance(each, cst.Call) and each not in around]
        earlier = [each for each in calls if _before(self._source.range_of(each).start, start)]
        return not earlier or not contains(taken, cst.Call)

    def _is_left_to_python(self, node: cst.BaseStatement) -> bool:
        if node is self._alone or self._source.is_inside(self._alone, node) or node in self._handing_on:
            return True
        if isinstance(node, _BLOCKS):
            heads = {name for head in _heads(node) for name in names_in(head)}
            return bool(heads & self._from_python) or contains(node, *_LEAVES)
        if contains(node, cst.Raise, *_IMPORTS) or (
            contains(node, *_LEAVES) and not contains(node, *_CALCULATES)
        ):
            return True
        flow = self._flow([node])
        read = flow.read & self._locals
        is_only_effect = not read and not flow.possible and contains(node, cst.Expr)
        return is_only_effect or (bool(read) and read <= self._independent)

    def _part(
        self, run: Sequence[cst.BaseStatement], bound: set[str], after: set[str]
    ) -> list[cst.BaseStatement]:
        """The call of a new function with the statements of `run`; `run` itself where it computes nothing."""
        before = list(itertools.takewhile(lambda each: not contains(each, *_CALCULATES), run))
        bound |= self._flow(before).definite
        run = run[len(before) :]
        if not run:
            return before
        leaves_early = any(contains(each, cst.Return) for each in run[:-1])
        if leaves_early or any(_leaves_a_loop(each) for each in run):
            raise DoesNotFit
        flow = self._flow(run)
        outputs = sorted(flow.possible & after & self._locals)
        if self._in_try and (
            len(outputs) > 1
            or not isinstance(run[-1], cst.SimpleStatementLine)
            or self._flow(run[:-1]).possible & set(outputs)
        ):
            raise DoesNotFit  # an exception between two assignments keeps the first one
        needed = (flow.read & self._locals) | (set(outputs) - flow.definite)
        if not needed <= bound:
            raise DoesNotFit
        bound |= flow.definite
        inputs = sorted(needed, key=lambda name: (name != "self", name))
        returns = contains(run[-1], cst.Return)
        body = run if returns or not outputs else _returning(run, outputs)
        part = Part(self._new_name(), inputs, body, returns or bool(outputs))
        self.parts.append(part)
        call = f"{part.name}({', '.join(inputs)})"
        text = f"return {call}" if returns else f"{', '.join(outputs)} = {call}" if outputs else call
        lines = [each for each in getattr(run[0], "leading_lines", ()) if each.comment is None]
        return [*before, statement(text).with_changes(leading_lines=lines)]

    def _new_name(self) -> str:
        """The function's name with a number appended; a method's begins with the name of its class."""
        home = next(self._source.enclosing(self._function, cst.ClassDef), None)
        own = self._function.name.value.strip("_")
        stem = f"{home.name.value.lower()}_{own}" if home is not None else own
        known = names_in(self._source.module) | {each.name for each in self.parts}
        numbered = (f"{stem}_{number}" for number in range(1, len(known) + 2))
        return next(name for name in numbered if name not in known)

    def _read_in(self, statements: Sequence[cst.CSTNode], after: set[str]) -> set[str]:
        """The names that are read in these statements, or in `after`, which follows them."""
        flow = self._flow(statements)
        return flow.read | (after - flow.definite)

    def _flow(self, statements: Sequence[cst.CSTNode]) -> Flow:
        return flow_of("".join(self._source.text_of(each) for each in statements))


def _put_together(value: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """What a tuple, list, dictionary or new object is made of; None for others, and where one has `*`."""
    match value:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            parts = [each.value for each in elements if isinstance(each, cst.Element)]
        case cst.Dict(elements=elements):
            plain = [each for each in elements if isinstance(each, cst.DictElement)]
            parts = [each.value for each in plain if isinstance(each.key, cst.SimpleString)]
        case cst.Call(func=cst.Name(name), args=elements) if name[:1].isupper():
            parts = [each.value for each in elements if not each.star]
        case _:
            return None
    return parts if len(parts) == len(elements) else None


def _value_taken_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`x` of `x.item()`, and of others that take values out of a tensor."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("item" | "tolist" | "numpy")), args=[]):
            return owner
        case cst.Call(func=cst.Name("int" | "float" | "bool"), args=[cst.Arg(value=owner)]):
            return owner
    return None


def _before(one: CodePosition, other: CodePosition) -> bool:
    return (one.line, one.column) < (other.line, other.column)


def _leaves_a_loop(node: cst.BaseStatement) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and contains(node, cst.Break, cst.Continue)


def _parameters(function: cst.FunctionDef) -> set[str]:
    parameters = function.params
    stars = [each for each in (parameters.star_arg, parameters.star_kwarg) if isinstance(each, cst.Param)]
    named = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return {each.name.value for each in (*named, *stars)}


def _assigned_by(node: cst.CSTNode) -> set[str]:
    """The names that a loop or a `with` assigns before its block begins."""
    if isinstance(node, cst.For):
        return names_in(node.target)
    items = node.items if isinstance(node, cst.With) else ()
    return {name for item in items if item.asname is not None for name in names_in(item.asname.name)}


def _heads(node: cst.BaseStatement) -> list[cst.BaseExpression]:
    if isinstance(node, cst.If | cst.While):
        return [node.test]
    if isinstance(node, cst.For):
        return [node.iter]
    return [item.item for item in node.items] if isinstance(node, cst.With) else []


def _expressions(statement: cst.BaseStatement) -> list[cst.BaseExpression]:
    """All expressions in a statement, outer ones before those inside of them."""
    return [each for each in nodes(statement) if isinstance(each, cst.BaseExpression)]


def _returning(run: Sequence[cst.BaseStatement], outputs: Sequence[str]) -> list[cst.BaseStatement]:
    """The statements, returning these names; `return x * 2` rather than `x = x * 2` and `return x`."""
    last = run[-1]
    small = alone_in(last)
    targets = [dotted(each.target) for each in small.targets] if isinstance(small, cst.Assign) else []
    if isinstance(small, cst.Assign) and targets == list(outputs) and len(targets) == 1:
        return [*run[:-1], last.with_changes(body=[cst.Return(small.value)])]
    return [*run, statement(f"return {', '.join(outputs)}")]


def _to_if(small: cst.Return | cst.Assign, chosen: cst.IfExp) -> cst.If:
    """`return a if c else b` as a statement `if`, whose sides can be compiled."""

    def side(value: cst.BaseExpression) -> cst.BaseStatement:
        if isinstance(value, cst.IfExp):
            return _to_if(small, value)
        return cst.SimpleStatementLine([small.with_changes(value=_without_brackets(value))])

    other = side(chosen.orelse)
    otherwise = other if isinstance(other, cst.If) else cst.Else(cst.IndentedBlock([other]))
    return cst.If(_without_brackets(chosen.test), cst.IndentedBlock([side(chosen.body)]), otherwise)


def _without_brackets(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=(), rpar=())
