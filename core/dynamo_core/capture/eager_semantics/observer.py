"""What torch.compile changes in a program that compiles for itself, as far as a look at its graphs tells.

Nothing is done about it, and nothing is paid for it after a graph's first call.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...shared.records import Answer, SemanticsNoted
from ..frames.source import current_compile_id, user_line
from ..probe_guard import ProbeGuard
from .graph_facts import GraphFacts, facts_of
from .replay import AotFunction, node_of

# Record what torch.compile would have changed, once for each graph and kind.


class Notes:
    """The notes on one graph, or on a frame that has none."""

    def __init__(self, number: int | None, probes: ProbeGuard) -> None:
        self._number = number
        self._probes = probes
        self._compile_id = current_compile_id()
        self._known: set[str] = set()

    def add(self, kind: str, answered: Answer, **detail: Any) -> None:
        """`answered` says what the program got: "eager", or "compiled" where that could not be kept."""
        if kind in self._known:
            return
        self._known.add(kind)
        noted = SemanticsNoted(graph=self._number, kind=kind, answered=answered, **detail)
        self._probes.stream.record(noted, self._compile_id)

    def unused_output(
        self, answered: Answer, facts: GraphFacts, unused: Sequence[int], inputs: Sequence[str]
    ) -> None:
        """No loss used these outputs, which leaves these inputs without a gradient in eager."""
        self.add(
            "unused_output",
            answered,
            outputs=[facts.outputs[i] for i in unused],
            inputs=inputs,
            **self.at(facts.output_places[unused[0]]),
        )

    @staticmethod
    def at(place: tuple[str, int] | None) -> dict[str, Any]:
        """The user's line, where it is known."""
        return {} if place is None else {"file": place[0], "line": place[1]}

    def failed(self, error: BaseException) -> None:
        """What kept eager's semantics does not work with this torch."""
        self._probes.failed("eager semantics", error)


# What torch.compile changes in a program that compiles for itself, as far as a look at its graphs tells.


# What Dynamo makes of an assertion on a tensor: torch/_dynamo/symbolic_convert.py (generic_jump).
_ASSERTION = "_assert_async"


def observe_graph(gm: Any, number: int, probes: ProbeGuard) -> Callable[[Any], None] | None:
    """Note what the graph shows; what shall look at the outputs of its first call, if it is to be trained."""
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
        return None  # every trained input leads to the same outputs: it has a gradient if any has

    def look(outputs: Any) -> None:
        try:
            _watch_first_backward(outputs, facts, notes)
        except Exception as error:
            notes.failed(error)

    return look


def _watch_first_backward(outputs: Any, facts: GraphFacts, notes: Notes) -> None:
    given = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    node = node_of(given)
    if node is None:
        return
    positions = AotFunction(node, given).positions

    def before_backward(gradients: Sequence[Any]) -> None:
        try:
            unused = {output for output, position in positions.items() if gradients[position] is None}
            inputs = [
                name for name, to in zip(facts.inputs, facts.leads_to, strict=True) if to and to <= unused
            ]
            if inputs:
                notes.unused_output("compiled", facts, sorted(unused), inputs)
        except Exception as error:
            notes.failed(error)

    node.register_prehook(before_backward)
