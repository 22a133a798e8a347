"""Whether a compiled graph computes what eager does: outputs, inputs changed in place, and gradients."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..backends.agreement import (
    Comparison,
    clone_with_aliases,
    compare,
    draws_random_numbers,
    in_float64,
    rounded_otherwise,
)
from .calls import Values, called
from .compiled_graph import CompiledGraph, NotRunnable, in_a_line


@dataclass(frozen=True)
class Check:
    """What disagrees with eager, in words, or None; and how many seconds the first call took.

    That call has compiled what is compiled when it is first needed, like most backwards.
    """

    disagreement: str | None
    first_call_seconds: float


def check(compiled: CompiledGraph) -> Check:
    """Call the graph as compiled, in eager and in float64, on the same inputs and random numbers.

    NotRunnable if eager fails; an error of the compiled graph goes on to the caller.
    """
    inputs = compiled.arguments
    try:
        eager = called(compiled.graph.forward, clone_with_aliases(inputs))
    except Exception as error:
        raise NotRunnable(f"eager fails on it: {in_a_line(error)}") from error
    own_inputs = clone_with_aliases(inputs)
    began = time.perf_counter()
    candidate = called(compiled.function, own_inputs)
    seconds = time.perf_counter() - began
    return Check(_disagreement(candidate, eager, compiled.graph, inputs), seconds)


def _disagreement(candidate: Values, eager: Values, graph: Any, inputs: Sequence[Any]) -> str | None:
    if candidate.names != eager.names:
        return f"it has {len(candidate.names)} outputs and gradients where eager has {len(eager.names)}"
    is_random = draws_random_numbers(graph)
    reference = None if is_random else _in_float64(graph, inputs)
    exact = None if reference is None or reference.names != eager.names else reference.values

    def again(seed: int) -> Sequence[Any]:
        return rounded_otherwise(lambda values: called(graph.forward, values).values, inputs, seed)

    for comparison in compare(eager.names, candidate.values, eager.values, exact, again):
        if not comparison.agrees:
            return _words(comparison) + (
                "; it draws random numbers, perhaps not as eager does" if is_random else ""
            )
    return None


def _in_float64(graph: Any, inputs: Sequence[Any]) -> Values | None:
    made = in_float64(graph, inputs)
    if made is None:
        return None
    try:
        return called(*made)
    except Exception:  # an operator that has no float64
        return None


def _words(comparison: Comparison) -> str:
    if comparison.detail is not None:
        return f"{comparison.name}: {comparison.detail}"
    return (
        f"{comparison.name} is off by {comparison.error:.2g} from {comparison.against} "
        f"(values up to {comparison.size:.2g}), where {comparison.allowed:.2g} is allowed"
    )
