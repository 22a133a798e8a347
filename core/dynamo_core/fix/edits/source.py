"""A source file as a syntax tree that keeps its formatting: find the nodes on a line, and replace them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

_Node = TypeVar("_Node", bound=cst.CSTNode)
Statement: TypeAlias = cst.BaseStatement
Put: TypeAlias = "cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.BaseStatement]"


class Source:
    """A parsed module; ValueError where its text is not Python that the parser knows."""

    def __init__(self, text: str) -> None:
        try:
            wrapper = MetadataWrapper(cst.parse_module(text))
        except (cst.ParserSyntaxError, RecursionError) as error:
            raise ValueError(f"cannot parse it: {error}") from error
        self.module = wrapper.module
        self._ranges: Mapping[cst.CSTNode, CodeRange] = wrapper.resolve(PositionProvider)
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = wrapper.resolve(ParentNodeProvider)

    def range_of(self, node: cst.CSTNode) -> CodeRange:
        """The position of a node, without the comments around it."""
        return self._ranges[node]

    def statement_at(self, line: int) -> Statement | None:
        """The innermost statement that includes this line."""
        found: Statement | None = None
        for node, span in self._ranges.items():
            if isinstance(node, cst.BaseStatement) and span.start.line <= line <= span.end.line:
                is_inside = found is None or self._ranges[found].start.line <= span.start.line
                is_smaller = found is None or self._ranges[found].end.line >= span.end.line
                if is_inside and is_smaller:
                    found = node
        return found

    def expressions_at(self, line: int) -> Iterator[cst.BaseExpression]:
        """Every expression that includes this line, outer ones first."""
        for node, span in self._ranges.items():
            if isinstance(node, cst.BaseExpression) and span.start.line <= line <= span.end.line:
                yield node

    def every(self, kind: type[_Node]) -> Iterator[_Node]:
        """Every node of a kind, outer ones before those inside of them."""
        return (node for node in self._ranges if isinstance(node, kind))

    def assignments(self) -> Iterator[tuple[str, cst.BaseExpression]]:
        """Every plain name that is assigned to, with the value."""
        for node in self.every(cst.Assign):
            for assigned in node.targets:
                if isinstance(assigned.target, cst.Name):
                    yield assigned.target.value, node.value

    def function_at(self, line: int) -> cst.FunctionDef | None:
        """The innermost function around the statement on this line."""
        around = self.statement_at(line)
        return None if around is None else next(self.enclosing(around, cst.FunctionDef), None)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The node that directly contains this one."""
        return self._parents[node]

    def enclosing(self, node: cst.CSTNode, *kinds: type[_Node]) -> Iterator[_Node]:
        """The nodes of these kinds that contain a node, the innermost first."""
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, kinds):
                yield node

    def is_new(self, node: cst.CSTNode) -> bool:
        """Whether the node was made by an edit and is not one of the module."""
        return node not in self._parents

    def is_inside(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        """Whether `outer` contains the node."""
        return any(each is outer for each in self.enclosing(node, type(outer)))

    def siblings(self, statement: Statement) -> Sequence[cst.CSTNode]:
        """The statements of the block that a statement is in."""
        block = self.parent(statement)
        return block.body if isinstance(block, cst.IndentedBlock | cst.Module) else ()

    def text_of(self, node: cst.CSTNode) -> str:
        """The source text of a node."""
        return self.module.code_for_node(node)

    def with_changes(self, changes: Mapping[cst.CSTNode, Put]) -> str:
        """The module's text with these nodes replaced by another, by several statements, or removed."""
        changed = replaced(self.module, changes)
        assert isinstance(changed, cst.Module)
        return changed.code


def replaced(node: cst.CSTNode, changes: Mapping[cst.CSTNode, Put]) -> Put:
    """The node with these nodes in it, or itself, replaced."""
    return node.visit(_Replacing(changes))  # type: ignore[return-value]


class _Replacing(cst.CSTTransformer):
    def __init__(self, changes: Mapping[cst.CSTNode, Put]) -> None:
        super().__init__()
        self._changes = changes

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Put:  # type: ignore[override]
        """Look nodes up by identity; changes inside of a replaced node are lost with it."""
        return self._changes.get(original_node, updated_node)


def nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all of its descendants."""
    yield node
    for child in node.children:
        yield from nodes(child)


def names_in(node: cst.CSTNode) -> set[str]:
    """Every plain name in a node."""
    return {each.value for each in nodes(node) if isinstance(each, cst.Name)}


def substituted(
    node: cst.BaseExpression, values: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression | None:
    """The expression with these names replaced; None where an attribute or keyword is called the same."""
    attributes = {each.attr.value for each in nodes(node) if isinstance(each, cst.Attribute)}
    arguments = (each.keyword for each in nodes(node) if isinstance(each, cst.Arg))
    if set(values) & (attributes | {keyword.value for keyword in arguments if keyword is not None}):
        return None
    changed = node.deep_clone().visit(_Substitute(values))
    return changed if isinstance(changed, cst.BaseExpression) else None


class _Substitute(cst.CSTTransformer):
    """Replaces names by expressions."""

    def __init__(self, values: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._values = values

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        value = self._values.get(updated_node.value)
        return updated_node if value is None else value.deep_clone()


def contains(node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> bool:
    """Whether a node, or one inside of it, is of one of these kinds."""
    return any(isinstance(each, kinds) for each in nodes(node))


def alone_in(node: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """The only small statement of a line; None for several with semicolons, and for a block."""
    is_one = isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1
    return node.body[0] if is_one and isinstance(node, cst.SimpleStatementLine) else None


def statement(text: str, like: cst.BaseStatement | None = None) -> cst.SimpleStatementLine:
    """One line of code as a statement, with the comments and empty lines above `like`.

    ValueError where it is not a statement.
    """
    try:
        parsed = cst.parse_statement(text)
    except cst.ParserSyntaxError as error:  # a `yield` or `*` may stand alone, and not in a call
        raise ValueError(f"cannot parse it: {error}") from error
    assert isinstance(parsed, cst.SimpleStatementLine)
    lines = getattr(like, "leading_lines", ())
    return parsed.with_changes(leading_lines=lines)


def expression(text: str) -> cst.BaseExpression:
    """An expression from its text; ValueError where it is not one."""
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError as error:
        raise ValueError(f"cannot parse it: {error}") from error


def dotted(node: cst.BaseExpression) -> str | None:
    """`a.b.c` for names and attributes, else None."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        inner = dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr.value}"
    return None


def called_name(node: cst.BaseExpression) -> str:
    """`step` of `self.model.step`, or of a call of it; "" where it has no name."""
    return (dotted(node.func if isinstance(node, cst.Call) else node) or "").rpartition(".")[2]


def keyword_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """An argument by name, without spaces around the equal sign."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=equal)


def with_keywords(call: cst.Call, arguments: Sequence[cst.Arg]) -> cst.Call:
    """The call with these keyword arguments at its end, instead of earlier ones of the same names.

    `**options` may have some of these names: one dictionary then has the options, and these behind them.
    """
    values = {each.keyword.value: each.value for each in arguments if each.keyword is not None}
    others = [each for each in call.args if each.keyword is None or each.keyword.value not in values]
    options = [cst.StarredDictElement(each.value) for each in others if each.star == "**"]
    if options:
        others = [each for each in others if each.star != "**"]
        named = [cst.DictElement(cst.SimpleString(f'"{name}"'), value) for name, value in values.items()]
        arguments = [cst.Arg(cst.Dict([*options, *named]), star="**")]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    *first, last = *others, *arguments
    return call.with_changes(args=[*(each.with_changes(comma=comma) for each in first), last])


def torch_name(source: Source) -> str | None:
    """The name by which the module imports torch at its top level; None where it does not."""
    for line in source.module.body:
        if isinstance(line, cst.SimpleStatementLine):
            for small in line.body:
                if isinstance(small, cst.Import):
                    for alias in small.names:
                        if dotted(alias.name) == "torch":
                            return alias.evaluated_alias or "torch"
    return None


def is_import(node: cst.CSTNode) -> bool:
    """Whether a node is a line of imports."""
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(each, cst.Import | cst.ImportFrom) for each in node.body
    )
