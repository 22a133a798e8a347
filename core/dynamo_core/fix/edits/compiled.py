"""How a function comes to be compiled, and the same without: by its decorator, or by a call of torch.compile.

A call may be given the function, or a model whose `forward` it is. Where there is more than one way to it, or
none that stands in the file, nothing is known.
"""

from collections.abc import Iterator, Mapping

import libcst as cst

from ...shared.quick_dataclass import dataclass
from .source import Put, Source, dotted, names_in, torch_name

_FORWARD = ("forward", "__call__")
_SEES_THE_WRAPPER = {"_orig_mod", "state_dict", "load_state_dict", "named_parameters", "named_modules"}


@dataclass(frozen=True)
class Compiled:
    """`without` takes torch.compile off the function; `decorator` is what puts it on another one."""

    without: Mapping[cst.CSTNode, Put]
    decorator: cst.Decorator


def compiled_as(source: Source, function: cst.FunctionDef) -> Compiled | None:
    """How this function of the module, or of a class of the module, is compiled."""
    torch = torch_name(source)
    home = next(source.enclosing(function, cst.FunctionDef, cst.ClassDef), None)
    if torch is None or isinstance(home, cst.FunctionDef):
        return None
    for decorator in function.decorators:
        node = decorator.decorator
        if dotted(node.func if isinstance(node, cst.Call) else node) == f"{torch}.compile":
            plain = decorator.with_changes(leading_lines=())
            return Compiled({decorator: cst.RemoveFromParent()}, plain)
    if home is None:
        name = function.name.value
        calls = [call for call in _compilations(source, torch) if dotted(call.args[0].value) == name]
        uses = [each for each in source.names() if each.value == name and each is not function.name]
        return _by_call(source, calls[0]) if len(calls) == 1 == len(uses) else None
    if not isinstance(home, cst.ClassDef) or function.name.value not in _FORWARD:
        return None
    calls = [
        call
        for call in _compilations(source, torch)
        if _is_made_by(source, call.args[0].value, home.name.value)
    ]
    # In a checkpoint, and for who looks for `_orig_mod`, a compiled model's parameters have other names.
    if names_in(source.module) & _SEES_THE_WRAPPER:
        return None
    return _by_call(source, calls[0]) if len(calls) == 1 else None


def _compilations(source: Source, torch: str) -> Iterator[cst.Call]:
    for call in source.calls():
        if dotted(call.func) == f"{torch}.compile" and call.args and call.args[0].keyword is None:
            yield call


def _is_made_by(source: Source, model: cst.BaseExpression, name: str) -> bool:
    """Whether it is an object of this class: made on the spot, or of a name that stands for nothing else."""
    if isinstance(model, cst.Call):
        return dotted(model.func) == name
    if not isinstance(model, cst.Name):
        return False
    given = [value for target, value in source.assignments() if target == model.value]
    others = [value for value in given if not (isinstance(value, cst.Call) and model in _arguments(value))]
    return len(others) == 1 and isinstance(others[0], cst.Call) and dotted(others[0].func) == name


def _is_made_always(source: Source, call: cst.Call) -> bool:
    """Whether the program compiles it in every run, and not only if it is asked to."""
    return all(
        isinstance(each, cst.If) and "__name__" in names_in(each.test)
        for each in source.enclosing(call, cst.If, cst.IfExp, cst.BooleanOperation, cst.Try)
    )


def _arguments(call: cst.Call) -> list[cst.BaseExpression]:
    return [each.value for each in call.args]


def _by_call(source: Source, call: cst.Call) -> Compiled | None:
    if not _is_made_always(source, call):
        return None
    model, *arguments = call.args
    decorated = call.func if not arguments else call.with_changes(args=arguments)
    assigned = source.parent(call)
    line = source.parent(assigned)
    is_only_that = (
        isinstance(assigned, cst.Assign)
        and len(assigned.targets) == 1
        and dotted(assigned.targets[0].target) == dotted(model.value)
        and isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
    )
    without: Mapping[cst.CSTNode, Put] = (
        {line: cst.RemoveFromParent()} if is_only_that else {call: model.value}
    )
    return Compiled(without, cst.Decorator(decorated))
