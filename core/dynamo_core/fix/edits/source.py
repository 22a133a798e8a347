"""A source file as a syntax tree that keeps its formatting: find the nodes on a line, and replace them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

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

    def names(self) -> Iterator[cst.Name]:
        """Every plain name."""
        for node in self._ranges:
            if isinstance(node, cst.Name):
                yield node

    def calls(self) -> Iterator[cst.Call]:
        """Every call."""
        for node in self._ranges:
            if isinstance(node, cst.Call):
                yield node

    def assignments(self) -> Iterator[tuple[str, cst.BaseExpression]]:
        """Every plain name that is assigned to, with the value."""
        for node in self._ranges:
            if isinstance(node, cst.Assign):
                for assigned in node.targets:
                    if isinstance(assigned.target, cst.Name):
                        yield assigned.target.value, node.value

    def functions(self) -> Iterator[cst.FunctionDef]:
        """Every function and method."""
        for node in self._ranges:
            if isinstance(node, cst.FunctionDef):
                yield node

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The node that directly contains this one."""
        return self._parents[node]

    def enclosing(self, node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
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
        return _code(self.module.visit(_Replacing(changes)))


class _Replacing(cst.CSTTransformer):
    def __init__(self, changes: Mapping[cst.CSTNode, Put]) -> None:
        super().__init__()
        self._changes = changes

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Put:  # type: ignore[override]
        """Look nodes up by identity; changes inside of a replaced node are lost with it."""
        return self._changes.get(original_node, updated_node)


def _code(module: cst.CSTNode) -> str:
    assert isinstance(module, cst.Module)
    return module.code


def names_in(node: cst.CSTNode) -> set[str]:
    """Every plain name in a node."""
    found: set[str] = set()
    _visit(node, lambda each: found.add(each.value) if isinstance(each, cst.Name) else None)
    return found


def contains(node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> bool:
    """Whether a node, or one inside of it, is of one of these kinds."""
    found: list[cst.CSTNode] = []
    _visit(node, lambda each: found.append(each) if isinstance(each, kinds) else None)
    return bool(found)


def _visit(node: cst.CSTNode, visitor: Callable[[cst.CSTNode], object]) -> None:
    visitor(node)
    for child in node.children:
        _visit(child, visitor)


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
