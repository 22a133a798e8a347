"""An edit of what an object keeps: a tensor of one value, which branches ask, as a value of Python's."""

import libcst as cst

from .source import Put, Source, called_name, nodes

_TENSORS_OF_A_VALUE = ("tensor", "as_tensor")
_FILLED = {"zeros": "0", "ones": "1"}


def flag_kept_in_python(text: str, line: int) -> str | None:
    """The source with the tensor that the `if` on this line asks as a value of Python's, in all the file."""
    source = Source(text)
    branch = source.statement_at(line)
    name = _flag_asked(branch.test) if isinstance(branch, cst.If) else None
    if name is None:
        return None
    found = ((node, _in_python(node, name)) for node in nodes(source.module))
    changes: dict[cst.CSTNode, Put] = {node: new for node, new in found if new is not None}
    if not any(isinstance(node, cst.Expr | cst.Assign) for node in changes):
        return None  # what makes it is elsewhere
    return source.with_changes(changes)


def _flag_asked(test: cst.BaseExpression) -> str | None:
    """`ready` of `not self.ready`, `self.ready[0] == 1`, `bool(self.state.ready.item())`."""
    match test:
        case cst.UnaryOperation(expression=inner) | cst.Comparison(left=inner) | cst.Subscript(value=inner):
            return _flag_asked(inner)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="item"))):
            return _flag_asked(inner)
        case cst.Call(func=cst.Name(value="bool" | "int"), args=[cst.Arg(value=inner)]):
            return _flag_asked(inner)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name
    return None


def _in_python(node: cst.CSTNode, name: str) -> cst.CSTNode | None:
    """What stands in place of a node that makes, sets or reads the tensor of this name; None for others."""
    match node:
        case cst.Expr(
            value=cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="register_buffer")),
                args=[cst.Arg(value=cst.SimpleString(evaluated_value=quoted)), cst.Arg(value=made), *_],
            )
        ) if quoted == name:
            return _assigned(cst.Attribute(owner, cst.Name(name)), made)
        case cst.Expr(
            value=cst.Call(
                func=cst.Attribute(value=flag, attr=cst.Name(value="fill_" | "copy_")),
                args=[cst.Arg(value=value)],
            )
        ) if _is_named(flag, name):
            return _assigned(flag, value)
        case cst.Assign(targets=[cst.AssignTarget(target=flag)], value=cst.Call() as made) if _is_named(
            flag, name
        ):
            return _assigned(flag, made)
        case cst.Subscript(value=flag) if _is_named(flag, name):
            return flag
        case cst.Call(func=cst.Attribute(value=flag, attr=cst.Name(value="item"))) if _is_named(flag, name):
            return flag
    return None


def _is_named(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == name


def _assigned(flag: cst.BaseExpression, value: cst.BaseExpression) -> cst.Assign:
    assert isinstance(flag, cst.Attribute)
    return cst.Assign([cst.AssignTarget(flag)], _value_of(value))


def _value_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """`True` of `torch.tensor([True])`; of what makes no tensor, itself."""
    if not isinstance(node, cst.Call):
        return node
    name = called_name(node)
    if name in _FILLED:
        return cst.Integer(_FILLED[name])
    if name not in _TENSORS_OF_A_VALUE or not node.args:
        return node
    match node.args[0].value:
        case cst.List(elements=[cst.Element(value=only)]):
            return only
        case value:
            return value
