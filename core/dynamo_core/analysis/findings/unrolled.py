"""Findings: loops of the program's that make a graph large, and its first step slow."""

import re
from collections.abc import Iterator

from ...model import CompileId, Graph, Process, StackFrame, UnrolledLoop
from ..figures import Figures
from ..words import graph_frame, number, place, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Cost, Evidence, Figure
from .remedy import remedy

# A loop over numbers goes over parts of a tensor, say; what another loop goes over are layers, most often.
_OVER_NUMBERS = re.compile(r"\brange\(")
_AT_ONCE = (
    "compute over all of it at once in place of one after the other (a dimension more, stacked slices, "
    "a convolution): then there is one op for each in the loop's body. Where each turn needs what the one "
    "before it gave, make the body a function of the tensors that it works on (of `xs[t]`, not of `t`), and "
    "compile that one in place of the whole: the first step is fast then, and later ones are slower, as each "
    "turn is a call; measure it. Or make the loop shorter."
)
_COMPILE_ONCE = (
    "compile what is repeated, and not the whole (regional compilation): `layer.compile()` on each layer in "
    "place of the model, as layers of one class share what is compiled. To keep one graph, mark the repeated "
    "function with `torch.compiler.nested_compile_region`; that can take longer, too: measure it."
)


def unrolled_loops(figures: Figures) -> Iterator[Draft]:
    """Of each large graph that took long to compile, the loop from which most of it comes."""
    for process in figures.recording.processes:
        large = [(graph, graph.loop) for graph in process.compiled_graphs if graph.loop is not None]
        took = _compile_seconds(process) if large else {}
        for graph, loop in large:
            if (seconds_of_its_frame := took.get(graph.compile_id, 0.0)) >= WORTH_A_WORD_S:
                yield _of_graph(process, graph, loop, seconds_of_its_frame)


def _compile_seconds(process: Process) -> dict[CompileId | None, float]:
    """What each compile took, with the backward."""
    took: dict[CompileId | None, float] = {}
    for compile_ in process.compiles:
        took[compile_.compile_id] = took.get(compile_.compile_id, 0.0) + (compile_.seconds or 0.0)
    return took


def _of_graph(process: Process, graph: Graph, loop: UnrolledLoop, took: float) -> Draft:
    where = loop.called_from or loop.place
    name = graph_frame(graph)
    what = "a loop" if loop.is_loop else "one function"
    copied = "unrolls loops: most ops of this one are" if loop.is_loop else "inlines calls: this function is"
    return Draft(
        "unrolled loop",
        key=(),
        title=f"{loop.ops:,} of the {number(graph.ops, 'op')} of {name} come from {what}, at {place(where)}",
        cause=f"Dynamo {copied} {loop.times:,} times in graph {graph.number}, each of them traced and "
        "compiled anew",
        effect=f"compiling the frame took {seconds(took)}",
        processes=(process,),
        place=where,
        function=graph.frame_name,
        source=loop.text,
        via=None if loop.called_from is None else StackFrame(loop.place, "", loop.text),
        # Not more than all of it; how much less a smaller graph takes is not known.
        cost=Cost(saves_at_most=Figure(took, "estimated")),
        evidence=Evidence((str(graph.compile_id),), (graph.number,)),
        remedies=remedy("unrolled loop", _AT_ONCE if _OVER_NUMBERS.search(loop.text) else _COMPILE_ONCE),
    )
