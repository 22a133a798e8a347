"""How much of a call a backend has to compile for it to go wrong: the operations behind run in eager."""

from collections.abc import Callable, Sequence
from typing import Any

from ..probes.graphs import target_name
from .backend_faults import as_results
from .operation_log import own_lines

Backend = Callable[..., Any]  # takes a graph and its inputs, and gives what to call
Place = tuple[str, int, str]  # file, line and operation


def beginning_backend(backend: Backend, count: int, operations: list[Place]) -> Backend:
    """A backend that compiles so many operations of the call, and runs those behind them in eager.

    All of them are put into `operations`, with their places.
    """

    def compile_beginning(gm: Any, _: Any) -> Callable[..., Any]:
        nodes = [node for node in gm.graph.nodes if node.op.startswith("call_")]
        compiled = nodes[: max(0, count - len(operations))]
        for node in nodes:
            file, line = (own_lines(node) or [("", 0)])[-1]
            operations.append((file, line, target_name(node)))
        run: Callable[..., Any] = _running(gm, compiled, backend).run if compiled else gm.forward
        return run

    return compile_beginning


def _running(gm: Any, compiled: Sequence[Any], backend: Backend) -> Any:
    """What runs a graph node by node, but for those that are compiled: together, when the first is to run."""
    import torch

    kept = [node for node in compiled if any(user not in compiled for user in node.users)]

    class Running(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            if n not in compiled:
                return super().run_node(n)
            if n is compiled[0]:
                graph, given = _part(compiled, kept, self.env)
                results = as_results(backend(graph, given)(*given))
                self.results = dict(zip(kept, results, strict=True))
            return self.results.get(n)

    return Running(gm, garbage_collect_values=False)


def _part(nodes: Sequence[Any], kept: Sequence[Any], values: dict[Any, Any]) -> tuple[Any, list[Any]]:
    """A graph of these nodes that gives those that are `kept`, and the tensors that it is given."""
    import torch

    graph = torch.fx.Graph()
    outside = dict.fromkeys(each for node in nodes for each in node.all_input_nodes if each not in nodes)
    given = [each for each in outside if isinstance(values[each], torch.Tensor)]
    copies = {each: graph.placeholder(each.name) for each in given}

    def copied(argument: Any) -> Any:
        return torch.fx.node.map_arg(argument, lambda each: copies[each] if each in copies else values[each])

    for node in nodes:
        copies[node] = graph.create_node(node.op, node.target, copied(node.args), copied(node.kwargs))
    graph.output(tuple(copies[node] for node in kept))
    return torch.fx.GraphModule({}, graph), [values[each] for each in given]


def last_of_beginning(operations: Sequence[Place], is_wrong: Callable[[int], bool]) -> Place | None:
    """The last operation of the shortest beginning that is wrong; None if not even all of them are."""
    right, wrong = 0, len(operations)
    if not is_wrong(wrong):
        return None
    while wrong - right > 1:
        middle = (right + wrong) // 2
        right, wrong = (right, middle) if is_wrong(middle) else (middle, wrong)
    return operations[wrong - 1]
