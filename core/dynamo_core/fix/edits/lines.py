"""Edits of single lines: calls, asserts, decorators."""

from collections.abc import Callable

import libcst as cst

from .analysis import changes_in_place
from .source import (
    Source,
    alone_in,
    called_name,
    dotted,
    expression,
    is_import,
    keyword_argument,
    nodes,
    statement,
    torch_name,
)

# numpy's functions that torch has by the same name, with the same meaning for arrays of floats.
_SAME_IN_TORCH = """
    abs arange argmax argmin clip concatenate cos cosh exp exp2 floor full isfinite isinf isnan log log10
    log1p log2 matmul maximum minimum ones ones_like round sign sin sinh sqrt square stack tan tanh where
    zeros zeros_like"""
_SAME_IN_MATH = "ceil exp floor log log10 log2 prod sqrt"


def item_kept_tensor(text: str, line: int) -> str | None:
    """The source with `x.item()` on this line as `x`."""
    return _rewrite_calls(text, line, _without_item)


def index_kept_tensor(text: str, line: int) -> str | None:
    """The source with `table[t]` on this line as `table[t.reshape(1)][0]`, where one name is an index."""
    source = Source(text)
    subscripts = (each for each in source.expressions_at(line) if isinstance(each, cst.Subscript))
    found = [(each, index) for each in subscripts if (index := _only_index(each))]
    if len(found) != 1:
        return None
    ((subscript, index),) = found
    if isinstance(source.parent(subscript), cst.AssignTarget | cst.AugAssign | cst.Del):
        return None
    table = source.text_of(subscript.value)
    return source.with_changes({subscript: expression(f"{table}[{index}.reshape(1)][0]")})


def deepcopy_to_clone(text: str, line: int) -> str | None:
    """The source with `copy.deepcopy(x)` on this line as `x.clone()`."""
    return _rewrite_calls(text, line, _cloned)


def asdict_to_fields(text: str, line: int) -> str | None:
    """The source with `dataclasses.asdict(x)` on this line as a dictionary of the fields, without copies."""
    return _rewrite_calls(text, line, _fields_of)


def numpy_to_torch(text: str, line: int) -> str | None:
    """The source with numpy's and `math`'s functions on this line as torch's, without conversions."""
    changed = _rewrite_calls(text, line, _in_torch)
    return None if changed is None else _rewrite_calls(changed, line, _without_item) or changed


def numpy_to_math(text: str, line: int) -> str | None:
    """The source with numpy functions of sizes on this line as those of `math` of the same name."""
    changed = _rewrite_calls(text, line, _in_math)
    return None if changed is None else _with_import(changed, "math")


def attribute_by_dictionary(text: str, line: int) -> str | None:
    """The source with each `object.__getattribute__(x, "name")` of this class as `x.__dict__["name"]`."""
    source = Source(text)
    asked = [each for each in source.expressions_at(line) if _kept_in_dictionary(source, each) is not None]
    owner = next(source.enclosing(asked[0], cst.ClassDef), None) if asked else None
    if owner is None:
        return None
    replaced = ((each, _kept_in_dictionary(source, each)) for each in nodes(owner))
    return source.with_changes({each: new for each, new in replaced if new is not None})


def default_device_of_a_tensor(text: str, line: int) -> str | None:
    """The source with `torch.get_default_device()` on this line as the device of an empty tensor."""
    return _rewrite_calls(text, line, _device_of_an_empty_tensor)


def constant_message(text: str, line: int) -> str | None:
    """The source with a constant message of this assert: f"…{value}" would break the graph."""
    source = Source(text)
    found = source.statement_at(line)
    if not isinstance(found, cst.SimpleStatementLine):
        return None
    for small in found.body:
        if isinstance(small, cst.Assert) and small.msg is not None:
            if isinstance(small.msg, cst.SimpleString):
                return None
            constant = "".join(
                part.value
                for part in getattr(small.msg, "parts", ())
                if isinstance(part, cst.FormattedStringText)
            )
            words = " ".join(constant.split()).rstrip(" :,") or "an assertion failed"
            return source.with_changes({small.msg: cst.SimpleString(repr(words))})
    return None


def statement_removed(text: str, line: int) -> str | None:
    """The source without the statement on this line, if it is a call and nothing uses what it returns."""
    source = Source(text)
    found = source.statement_at(line)
    only = alone_in(found)
    if found is None or not (isinstance(only, cst.Expr) and isinstance(only.value, cst.Call)):
        return None
    is_alone = len(source.siblings(found)) == 1
    left = found.with_changes(body=[cst.Pass()]) if is_alone else cst.RemoveFromParent()
    return source.with_changes({found: left})


def data_ptr_to_is(text: str, line: int) -> str | None:
    """The source with `a.data_ptr() == b.data_ptr()` on this line as `a is b`."""
    source = Source(text)
    for node in source.expressions_at(line):
        compared = _compared_pointers(node)
        if compared is not None:
            assert isinstance(node, cst.Comparison)
            target = node.comparisons[0]
            operator = cst.IsNot() if isinstance(target.operator, cst.NotEqual) else cst.Is()
            new = [cst.ComparisonTarget(operator, compared[1])]
            return source.with_changes({node: node.with_changes(left=compared[0], comparisons=new)})
    return None


def parameter_left_out(text: str, line: int) -> str | None:
    """The source with `nn.Parameter(x, requires_grad=False)` on this line as `x.detach()`."""
    return _rewrite_calls(text, line, _detached)


def mask_declared_causal(text: str, line: int) -> str | None:
    """The source with `is_causal=True` beside a mask that the function made as a causal one.

    That of a decoder or of `nn.Transformer` is `tgt_mask`, for which it is `tgt_is_causal=True`.
    """
    source = Source(text)
    function = source.function_at(line)
    if function is None:
        return None
    causal = {
        name
        for node in nodes(function)
        if isinstance(node, cst.Assign) and called_name(node.value) == "generate_square_subsequent_mask"
        for target in node.targets
        if (name := dotted(target.target)) is not None
    }
    for node in source.expressions_at(line):
        masks = {each.keyword.value: dotted(each.value) for each in getattr(node, "args", ()) if each.keyword}
        for mask, argument in (("tgt_mask", "tgt_is_causal"), ("mask", "is_causal")):
            if isinstance(node, cst.Call) and masks.get(mask) in causal:
                *before, last = node.args
                comma = before[-1].comma if before else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                declared = keyword_argument(argument, cst.Name("True")).with_changes(comma=last.comma)
                arguments = [*before, last.with_changes(comma=comma), declared]
                return source.with_changes({node: node.with_changes(args=arguments)})
    return None


def copied_always(text: str, line: int) -> str | None:
    """The source with a copy that an address decides on made always: `x if x.data_ptr() % 16 == 0 else …`."""
    source = Source(text)
    found = source.statement_at(line)
    if isinstance(found, cst.If) and found.orelse is None and isinstance(found.body, cst.IndentedBlock):
        is_meant = _asks_for_the_address(found.test) and len(found.body.body) == 1
        return source.with_changes({found: found.body.body[0]}) if is_meant else None
    for node in source.expressions_at(line):
        if isinstance(node, cst.IfExp) and _asks_for_the_address(node.test):
            copies = [each for each in (node.body, node.orelse) if called_name(each) == "clone"]
            return source.with_changes({node: copies[0]}) if len(copies) == 1 else None
    return None


def _asks_for_the_address(test: cst.BaseExpression) -> bool:
    return any(isinstance(each, cst.Call) and _is_call_of(each, "data_ptr") for each in nodes(test))


def decorator_removed(text: str, line: int) -> str | None:
    """The source without `@torch.compiler.disable` on the function that is called or begins on this line."""
    source = Source(text)
    called = {dotted(each.func) for each in source.expressions_at(line) if isinstance(each, cst.Call)}
    changes: dict[cst.CSTNode, cst.RemovalSentinel] = {}
    for function in source.every(cst.FunctionDef):
        span = source.range_of(function)
        decorators = {source.range_of(each).start.line for each in function.decorators}
        is_meant = function.name.value in {(name or "").rpartition(".")[2] for name in called}
        if is_meant or line == span.start.line or line in decorators:
            for decorator in function.decorators:
                if called_name(decorator.decorator) == "disable":
                    changes[decorator] = cst.RemoveFromParent()
    return source.with_changes(changes) if changes else None


def _compared_pointers(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    operator, right = node.comparisons[0].operator, node.comparisons[0].comparator
    pointers = [_owner_of_pointer(node.left), _owner_of_pointer(right)]
    left_owner, right_owner = pointers
    if not isinstance(operator, cst.Equal | cst.NotEqual) or left_owner is None or right_owner is None:
        return None
    return left_owner, right_owner


def _owner_of_pointer(node: cst.BaseExpression) -> cst.BaseExpression | None:
    function = node.func if isinstance(node, cst.Call) and _is_call_of(node, "data_ptr") else None
    return function.value if isinstance(function, cst.Attribute) else None


_Rewrite = Callable[[Source, cst.Call], "cst.BaseExpression | None"]


def _rewrite_calls(text: str, line: int, rewrite: _Rewrite) -> str | None:
    """The source with each call on this line replaced for which `rewrite` gives a replacement."""
    changed = text
    for _ in range(20):  # one call at a time, as calls may be nested
        source = Source(changed)
        calls = [each for each in source.expressions_at(line) if isinstance(each, cst.Call)]
        rewritten = ((call, rewrite(source, call)) for call in calls)
        first = next(((call, new) for call, new in rewritten if new is not None), None)
        if first is None:
            break
        changed = source.with_changes({first[0]: first[1]})
    return changed if changed != text else None


def _kept_in_dictionary(source: Source, node: cst.CSTNode) -> cst.BaseExpression | None:
    if (
        not isinstance(node, cst.Call)
        or dotted(node.func) != "object.__getattribute__"
        or len(node.args) != 2
    ):
        return None
    of, name = (each.value for each in node.args)
    is_plain = dotted(of) is not None and isinstance(name, cst.SimpleString)
    return expression(f"{source.text_of(of)}.__dict__[{source.text_of(name)}]") if is_plain else None


def _device_of_an_empty_tensor(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    torch = torch_name(source)
    is_asked = dotted(call.func) == f"{torch}.get_default_device" and not call.args
    return expression(f"{torch}.empty(0).device") if is_asked else None


def _only_index(node: cst.Subscript) -> str | None:
    """The name that is the only index of a subscript, as `t` of `table[t]`."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return dotted(index.value) if isinstance(index, cst.Index) and index.star is None else None


def _without_item(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    function = next(source.enclosing(call, cst.FunctionDef), None)
    if function is not None and changes_in_place(function):
        return None  # a number keeps its value, but the tensor may be a view of what changes
    is_item = isinstance(call.func, cst.Attribute) and call.func.attr.value == "item" and not call.args
    return call.func.value if is_item and isinstance(call.func, cst.Attribute) else None


def _cloned(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    if dotted(call.func) not in ("copy.deepcopy", "deepcopy") or len(call.args) != 1 or call.args[0].star:
        return None
    copied = call.args[0].value
    if not isinstance(copied, cst.Name | cst.Attribute | cst.Subscript | cst.Call):
        return None
    return cst.Call(cst.Attribute(copied, cst.Name("clone")))


# Functions of torch whose results require no gradient, whatever they are given.
_MAKES_TENSORS = """
    arange empty eye full linspace new_full new_ones new_zeros ones ones_like rand randn tensor zeros
    zeros_like"""


def _detached(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    given = [source.text_of(each.value) for each in call.args if each.keyword is not None]
    keywords = [each.keyword.value for each in call.args if each.keyword is not None]
    is_meant = called_name(call) == "Parameter" and (keywords, given) == (["requires_grad"], ["False"])
    if not is_meant or len(call.args) != 2 or call.args[0].star:
        return None
    value = call.args[0].value
    if not isinstance(value, cst.Name | cst.Attribute | cst.Subscript | cst.Call):
        return None
    if isinstance(value, cst.Call) and called_name(value) in _MAKES_TENSORS.split():
        return value
    return cst.Call(cst.Attribute(value, cst.Name("detach")))


def _fields_of(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    name = dotted(call.args[0].value) if len(call.args) == 1 else None
    if dotted(call.func) != "dataclasses.asdict" or name is None:
        return None
    return expression(f"{{f.name: getattr({name}, f.name) for f in dataclasses.fields({name})}}")


def _in_torch(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    torch, name = torch_name(source), dotted(call.func)
    if torch is None:
        return None
    if name in (f"{torch}.from_numpy", f"{torch}.as_tensor") and len(call.args) == 1:
        return call.args[0].value
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "numpy" and not call.args:
        inner = call.func.value  # x.cpu().numpy() as x; a `detach` stays, or gradients would flow
        while _is_call_of(inner, "cpu"):
            assert isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute)
            inner = inner.func.value
        return inner
    module, _, function = (name or "").partition(".")
    if module in ("np", "numpy", "math") and function in _SAME_IN_TORCH.split():
        function = {"concatenate": "cat", "clip": "clamp"}.get(function, function)
        return call.with_changes(func=expression(f"{torch}.{function}"))
    return None


def _in_math(source: Source, call: cst.Call) -> cst.BaseExpression | None:
    module, _, function = (dotted(call.func) or "").partition(".")
    is_known = module in ("np", "numpy") and function in _SAME_IN_MATH.split()
    return call.with_changes(func=expression(f"math.{function}")) if is_known else None


def _with_import(text: str, module: str) -> str:
    """The source with an import of this module before its first import, unless it has that."""
    source = Source(text)
    imports = [each for each in source.module.body if is_import(each)]
    if any(source.text_of(each).strip() == f"import {module}" for each in imports):
        return text
    first = imports[0]
    assert isinstance(first, cst.SimpleStatementLine)
    lines = [statement(f"import {module}", first), first.with_changes(leading_lines=())]
    return source.with_changes({first: cst.FlattenSentinel(lines)})


def _is_call_of(node: cst.BaseExpression, *names: str) -> bool:
    return (
        isinstance(node, cst.Call)
        and not node.args
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value in names
    )
