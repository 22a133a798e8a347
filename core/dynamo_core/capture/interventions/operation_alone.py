"""Which operation of a captured graph a backend computes otherwise than eager when it compiles it alone.

Each operation is given what eager gives it in the whole graph, on memory of its own. One that gives something
else than tracing expects of it, writes what it does not declare, or in its backward the gradients that it is
given, a compiler cannot compute rightly: it is the first wrong one as well. Other strides than expected count
where the operator is not torch's own, whose kernels compilers know.
"""

import operator
from collections.abc import Callable
from typing import Any

from ...backends.agreement import shares_memory
from ..probes.graphs import target_name
from .backend_faults import as_results, is_wrong_for_a_copy
from .observed_state import KIND, RESULT, SAME, Leaves, observe
from .operation_log import is_changed, own_lines, values_before
from .state_difference import MINOR, Difference, compare_leaves

Backend = Callable[..., Any]  # takes a graph and its inputs, and gives what to call
EVERY_GRAPH = "every graph"  # that is of a backend which gets a copy of an input wrong
_WRITTEN = "are gradients written"  # by a backward that is given them
OutcomeOf = Callable[[Callable[[], Any]], dict[str, Any]]  # what a call returned or raised, as roots


def searching_backend(backend: Backend | None, found: list[Any], outcome_of: OutcomeOf) -> Backend:
    """A backend that runs a graph in eager, and notes the first operation that `backend` gets wrong.

    Without a backend, it is the first that does something else than it says. The operation's file, line and
    name are put into `found`, whether it gives another value, and what it does that it does not declare, or
    None. One whose result only has other strides, or shares other memory, is put there if there is no other.
    Where the backend gets a mere copy wrong, too, none is put there, and EVERY_GRAPH in place of the file.
    """
    import torch

    minor: list[Any] = []

    class Searching(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            lines = own_lines(n)
            is_searched = bool(lines) and n.op in ("call_function", "call_method") and not _is_part(n)
            differences, is_grave = [], False
            inputs: list[Any] = []
            if is_searched and backend is not None and (not found or minor):
                graph, inputs = _alone(n, self.env)
                eager = _leaves(lambda values: graph(*values), inputs, outcome_of)
                own = _leaves(lambda values: as_results(backend(graph, values)(*values)), inputs, outcome_of)
                differences = compare_leaves(own, eager).differences
                is_grave = eager.get(_WRITTEN, [""])[-1] == "True"
                is_grave = is_grave or any(_is_grave(each, own, eager) for each in differences)
            before = _not_declared_written(n, self.env) if is_searched else []
            result = super().run_node(n)
            written = next((name for name, value, was in before if is_changed(value, was)), None)
            undeclared = None if written is None else f"writes `{written}`, which it does not declare"
            if undeclared is None and is_searched:
                undeclared = _not_as_expected(n, result, self.env)
            is_suspect = bool(differences) and undeclared is None and not found
            if is_suspect and backend is not None and is_wrong_for_a_copy(backend, inputs):
                found[:] = EVERY_GRAPH, 0, "", False, None
                return result
            is_grave = is_grave or undeclared is not None
            if (is_grave and (not found or minor)) or (differences and not found):
                found[:] = *lines[-1], target_name(n), is_grave, undeclared
                minor[:] = [] if is_grave else found
            return result

    return lambda gm, _: Searching(gm, garbage_collect_values=False).run


def _is_grave(difference: Difference, own: Leaves, eager: Leaves) -> bool:
    """Whether there is another value, not only an input that is given back where eager makes a new one."""
    kinds = [leaves.get(difference.path, [KIND])[0] for leaves in (own, eager)]
    return difference.kind not in MINOR and SAME not in kinds


def _not_declared_written(node: Any, values: dict[Any, Any]) -> list[tuple[str, Any, Any]]:
    """The tensors that an operator is given and does not say that it writes: name, tensor and a copy."""
    import torch

    operator = getattr(node.target, "default", node.target)
    if not isinstance(operator, torch._ops.OpOverload):
        return []
    given = zip(operator._schema.arguments, node.args, strict=False)
    read = [
        (argument.name, values[each])
        for argument, each in given
        if not argument.is_write and each in node.all_input_nodes
    ]
    return [(name, tensor, was) for name, value in read for tensor, was in values_before(operator, [value])]


def _not_as_expected(node: Any, result: Any, values: dict[Any, Any]) -> str | None:
    """How results have another form than tracing expects, or share other memory; None if they do not."""
    import torch

    pairs = [(node.meta.get("example_value"), result)]
    if all(isinstance(each, (tuple, list)) for each in pairs[0]):
        pairs = list(zip(*pairs[0], strict=False))
    for expected, own in pairs:
        if not (isinstance(expected, torch.Tensor) and isinstance(own, torch.Tensor)):
            continue
        if form := _other_form(own, expected, with_strides=_is_of_others(node.target)):
            return form
        for each in node.all_input_nodes:
            if shares_memory(own, [values[each]]) and not shares_memory(
                expected, [each.meta.get("example_value")]
            ):
                return "gives memory of what it is given, where its fake kernel gives new memory"
    return None


def _other_form(own: Any, expected: Any, *, with_strides: bool) -> str | None:
    """Which of dtype, sizes and, if asked for, strides is not as expected, as far as those are numbers."""
    import torch

    if own.dtype != expected.dtype:
        gives, says = (str(each).removeprefix("torch.") for each in (own.dtype, expected.dtype))
        return f"gives dtype {gives}, where its fake kernel says {says}"
    if not all(type(size) is int for size in expected.shape):
        return None
    if own.shape != expected.shape:
        return f"gives sizes {tuple(own.shape)}, where its fake kernel says {tuple(expected.shape)}"
    if not (with_strides and own.numel() and own.layout is expected.layout is torch.strided):
        return None
    strides = zip(own.shape, own.stride(), expected.stride(), strict=True)
    if all(size == 1 or mine == then for size, mine, then in strides):
        return None
    return f"gives strides {own.stride()}, where its fake kernel says {expected.stride()}"


def _is_of_others(target: Any) -> bool:
    """Whether a function is an operator that is none of torch's: its strides are known by its fake alone."""
    import torch

    operator = getattr(target, "default", target)
    return isinstance(operator, torch._ops.OpOverload) and operator.namespace not in ("aten", "prims")


def _alone(node: Any, values: dict[Any, Any]) -> tuple[Any, list[Any]]:
    """A graph of this operation alone, and the tensors that it is given. It gives what somebody reads.

    Of an operation that gives several tensors those are its parts, each an output, as in any captured graph:
    a backend that is called without Dynamo need not take a tuple as an output.
    """
    import torch

    graph = torch.fx.Graph()
    given = [each for each in node.all_input_nodes if isinstance(values[each], torch.Tensor)]
    inputs = {each: graph.placeholder(each.name) for each in given}

    def copied(argument: Any) -> Any:
        return torch.fx.node.map_arg(argument, lambda each: inputs.get(each, values[each]))

    result = graph.create_node(node.op, node.target, copied(node.args), copied(node.kwargs))
    if any(map(_is_part, node.users)):
        parts = dict.fromkeys(each.args[1] for each in node.users if _is_part(each))
        graph.output(tuple(graph.call_function(operator.getitem, (result, part)) for part in parts))
    else:
        graph.output((result,) if node.users else ())
    return torch.fx.GraphModule({}, graph), [values[each] for each in given]


def _is_part(node: Any) -> bool:
    """Whether a node only takes one of several results."""
    return node.target is operator.getitem and isinstance(node.args[1], int)


def _leaves(call: Callable[[list[Any]], Any], inputs: list[Any], outcome_of: OutcomeOf) -> Leaves:
    """What a call on copies gives, the memory of the inputs after it, and their gradients."""
    copies = [_on_own_memory(value) for value in inputs]
    outcome = outcome_of(lambda: tuple(call(copies)))
    memory = [_whole_memory(value) for value in copies]
    return observe({**outcome, "memory": memory, "inputs": copies, **_gradients(outcome, copies)}, set())


def _whole_memory(value: Any) -> Any:
    import torch

    if value.layout is not torch.strided or type(value) is not torch.Tensor:
        return None
    return torch.empty(0, dtype=value.dtype).set_(value.detach().untyped_storage())


def _gradients(outcome: dict[str, Any], inputs: list[Any]) -> dict[str, Any]:
    import torch

    wanted = [value for value in inputs if value.requires_grad]
    outputs = [value for value in outcome.get(RESULT, ()) if getattr(value, "grad_fn", None) is not None]
    if not wanted or not outputs:
        return {}
    # Equal numbers would hide much: the gradient of a softmax is then zero, however it is computed.
    given = [torch.linspace(1, 2, each.numel()).view_as(each).to(each.dtype) for each in outputs]
    before = [each.clone() for each in given]
    gradients = torch.autograd.grad(outputs, wanted, given, allow_unused=True)
    return {"gradients": gradients, _WRITTEN: any(map(is_changed, given, before))}


def _on_own_memory(value: Any) -> Any:
    """A copy with these strides, and with what lies between the elements."""
    import torch

    if value.layout is not torch.strided or type(value) not in (torch.Tensor, torch.nn.Parameter):
        return value.detach().clone().requires_grad_(value.requires_grad)
    plain = torch.empty(0, dtype=value.dtype, device=value.device)
    storage = value.detach().untyped_storage().clone()
    plain.set_(storage, value.storage_offset(), value.shape, value.stride())
    return plain.requires_grad_(value.requires_grad)
