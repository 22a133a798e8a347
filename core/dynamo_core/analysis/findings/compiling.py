"""Findings: compiling that costs more than it can bring back."""

from collections.abc import Iterator

from ...model import Process
from ..figures import Figures
from ..not_recorded import probe_failed
from ..remedies.advice import Advice
from ..words import number, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Cost, Figure
from .remedy import remedies

_COMPILE_LESS = (
    "in a run as short as this one, compile less: the part that is called most, or nothing; in a longer run "
    "it may pay. `dynamo bench` measures after how many steps."
)


def never_pays_back(figures: Figures) -> Iterator[Draft]:
    """Compiling that took so much longer than the graphs ran that they can hardly have made up for it."""
    for process in figures.recording.processes:
        if probe_failed([process], "graphs", "graph calls", "backward calls") is not None:
            continue
        compiling = sum(compile_.seconds or 0.0 for compile_ in process.compiles)
        inside = sum(each.seconds for each in figures.graph_times_of(process))
        if compiling < WORTH_A_WORD_S or inside <= 0 or compiling < 2 * inside:
            continue
        times = 1 + compiling / inside
        yield Draft(
            "never pays back",
            key=(),
            title=f"compiling took {seconds(compiling)}, the compiled graphs ran {seconds(inside)} in all",
            cause=f"it pays back in this run only if they are more than {times:,.0f} times as fast as eager",
            processes=(process,),
            cost=Cost(Figure(compiling, "measured"), saves_at_most=Figure(compiling, "estimated")),
            remedies=remedies("never pays back", map(Advice, (*_without_backward(process), _COMPILE_LESS))),
        )


def _without_backward(process: Process) -> Iterator[str]:
    """Where gradients could be asked for of what Inductor compiled, and no backward was compiled or ran."""
    graphs = process.compiled_graphs
    of_others = any(graph.backend != "inductor" or graph.backward_index is not None for graph in graphs)
    ops = sum(sum(pair.backward.values()) for pair in process.pairs)
    if ops and not of_others and not process.optimizers and process.end is not None:
        yield (
            "call it under `torch.no_grad()` or `torch.inference_mode()`, where no gradients are needed: no "
            f"backward ran, and AOTAutograd prepared one of {number(ops, 'op')}."
        )
