"""What torch.compile changes in a program that compiles for itself, as far as a look at its graphs tells.

Nothing is done about it, and nothing is paid for it after a graph's first call.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..frames.graph_lines import user_line
from ..harmless import Probes
from .aot_function import AotFunction, node_of
from .graph_facts import GraphFacts, facts_of
from .notes import Notes

# What Dynamo makes of an assertion on a tensor: torch/_dynamo/symbolic_convert.py (generic_jump).
_ASSERTION = "_assert_async"


def observed_graph(gm: Any, number: int, probes: Probes) -> Callable[[Any], None] | None:
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
