"""Record where torch.compile's semantics differ from eager's, as far as a program's graphs show it.

In a program that compiles for itself this only observes: it corrects nothing, and costs nothing after a
graph's first call.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...shared.records import Answer, SemanticsNoted
from ..frames.source import current_compile_id, user_line
from ..probe_guard import ProbeGuard
from .graph_facts import GraphFacts, facts_of
from .replay import AotFunction, node_of

if TYPE_CHECKING:
    from torch.fx import GraphModule


class Notes:
    """Records where semantics differ, for one graph or for a frame without one: once for each kind."""

    def __init__(self, number: int | None, probes: ProbeGuard) -> None:
        self._number = number
        self._probes = probes
        self._compile_id = current_compile_id()
        self._known: set[str] = set()

    def add(self, kind: str, answered: Answer, **detail: Any) -> None:
        """Record a difference; `answered` is "eager" if the program got eager's result, else "compiled"."""
        if kind in self._known:
            return
        self._known.add(kind)
        noted = SemanticsNoted(graph=self._number, kind=kind, answered=answered, **detail)
        self._probes.stream.record(noted, self._compile_id)

    def unused_output(
        self, answered: Answer, facts: GraphFacts, unused: Sequence[int], inputs: Sequence[str]
    ) -> None:
        """Record outputs that no loss used, which leaves these inputs without a gradient in eager."""
        self.add(
            "unused_output",
            answered,
            outputs=[facts.outputs[i] for i in unused],
            inputs=inputs,
            **self.at(facts.output_places[unused[0]]),
        )

    @staticmethod
    def at(place: tuple[str, int] | None) -> dict[str, Any]:
        """The file and line of the user's code as fields of the record; none if it is not known."""
        return {} if place is None else {"file": place[0], "line": place[1]}

    def failed(self, error: BaseException) -> None:
        """Record that keeping eager's semantics does not work with this torch."""
        self._probes.failed("eager semantics", error)


# Dynamo's operation for an assertion on a tensor: torch/_dynamo/symbolic_convert.py (generic_jump).
_ASSERTION = "_assert_async"


def observe_graph(gm: "GraphModule", number: int, probes: ProbeGuard) -> Callable[[Any], None] | None:
    """Record what the graph shows; the function to call with the outputs of its first call, if needed."""
    notes = Notes(number, probes)
    for node in gm.graph.nodes:
        if node.op == "call_function" and getattr(node.target, "__name__", None) == _ASSERTION:
            place = user_line(node.meta.get("stack_trace"))
            notes.add("assertion", "expected", **notes.at(place))
    try:
        facts = facts_of(gm)
    except Exception as error:
        notes.failed(error)
        return None
    if len({outputs for outputs in facts.leads_to if outputs}) < 2:
        return None  # all trained inputs lead to the same outputs: either all get a gradient or none

    def look(outputs: Any) -> None:
        try:
            _watch_first_backward(outputs, facts, notes)
        except Exception as error:
            notes.failed(error)

    return look


def _watch_first_backward(outputs: Any, facts: GraphFacts, notes: Notes) -> None:
    output_list = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    node = node_of(output_list)
    if node is None:
        return
    positions = AotFunction(node, output_list).positions

    def before_backward(gradients: Sequence[Any]) -> None:
        try:
            unused = {output for output, position in positions.items() if gradients[position] is None}
            inputs = [
                name
                for name, reached in zip(facts.inputs, facts.leads_to, strict=True)
                if reached and reached <= unused
            ]
            if inputs:
                notes.unused_output("compiled", facts, sorted(unused), inputs)
        except Exception as error:
            notes.failed(error)

    node.register_prehook(before_backward)
