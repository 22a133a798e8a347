"""Findings: time that steps spend outside of compiled graphs: eager code, optimizers, loaders."""

from collections.abc import Container, Iterator

from ...model import Optimizer, Place, Process, WindowSpan
from ..figures import Figures
from ..time.coverage import coverage
from ..words import place, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Cost, Evidence, Figure, Known
from .remedy import remedy

_MUCH = 0.1  # of the time that it is compared with


def time_outside_of_graphs(figures: Figures) -> Iterator[Draft]:
    """More than half of the run outside of graphs; with --profile, the operator that costs most there."""
    for process in figures.recording.processes:
        wall, outside = figures.wall(process), figures.outside_seconds(process)
        if wall is None or outside is None or outside < max(0.5 * wall.seconds, WORTH_A_WORD_S):
            continue
        if not figures.graph_times_of(process):
            continue
        where, which = _worst_operator(process)
        yield Draft(
            "time outside of graphs",
            key=(),
            title=f"{seconds(outside)} of {seconds(wall.seconds)} were spent outside of compiled graphs",
            cause=which or "on what was not recorded",
            processes=(process,),
            place=where,
            cost=Cost(Figure(outside, "measured"), saves_at_most=Figure(outside, "estimated")),
            remedies=remedy(
                "time outside of graphs",
                "compile what calls it, too."
                if which
                else "`dynamo run --profile` says on which operators, and on which lines.",
            ),
        )


def _worst_operator(process: Process) -> tuple[Place | None, str]:
    window = process.window
    if window is None or not window.eager:
        return None, ""
    inside = coverage(window)["time"]
    worst = max(window.eager, key=lambda operator: operator.seconds)
    where = f" at {place(worst.place)}" if worst.place is not None else ""
    share = (
        "" if inside is None else f"in a steady step {1 - inside:.0%} of the time in operators is outside, "
    )
    return worst.place, f"{share}{worst.name}{where} costs most"


def slow_loader(figures: Figures) -> Iterator[Draft]:
    """Waiting for a DataLoader, as the window of --profile saw it."""
    for process in figures.recording.processes:
        window = process.window
        waits = [span for span in (() if window is None else window.spans) if span.kind == "loader"]
        waited = sum(span.seconds for span in waits)
        if window is None or not waits or waited < _MUCH * window.seconds:
            continue
        each = waited / window.steps
        lines = dict.fromkeys(place(where) for span in waits for where in span.places)
        where = f", called at {', '.join(lines)}" if lines else ""
        yield Draft(
            "slow loader",
            key=(),
            title=f"steps wait for the DataLoader: {seconds(each)} in each",
            cause=f"{waited / window.seconds:.0%} of the time in steady steps passes in its __next__{where}",
            processes=(process,),
            cost=Cost(per_step=Figure(each, "measured"), saves_at_most=Figure(waited, "measured")),
            evidence=Evidence(
                records=tuple(f"enumerate(DataLoader)#{span.name}.__next__" for span in waits),
                times=sum(span.calls for span in waits),
            ),
            remedies=remedy("slow loader", _faster_loading({span.name for span in waits})),
        )


def _faster_loading(iterators: Container[str]) -> str:
    """By torch's classes of iterators, in torch/utils/data/dataloader.py: one of them has workers already."""
    if "_MultiProcessingDataLoaderIter" in iterators:
        return "its workers do not keep up: have more of them (`num_workers`), or do less in the dataset."
    return "let workers load ahead: `DataLoader(..., num_workers=N)`, or do less in the dataset."


def eager_optimizer(figures: Figures) -> Iterator[Draft]:
    """Optimizers of a program that trains compiled graphs, whose step is in no graph itself."""
    for process in figures.recording.processes:
        graphs = process.compiled_graphs
        if not any(graph.trains for graph in graphs) or any(g.optimizer_steps is None for g in graphs):
            continue
        in_graphs = {file for graph in graphs for file in graph.optimizer_steps or ()}
        for optimizer in process.optimizers:
            if optimizer.file in in_graphs:
                continue
            name = f"{optimizer.module}.{optimizer.name}"
            share, of_closure, cost = "", "", Cost()
            window, span = process.window, _steps_of(optimizer, process)
            if window is not None and span is not None:
                spent = span.seconds - span.in_graphs_seconds
                each = spent / window.steps
                known: Known = "measured"
                share = f"; {seconds(each)} of each step, {spent / window.seconds:.0%} of it"
                if span.in_graphs_seconds:
                    known = "estimated"  # how much of it is the closure's was not measured
                    of_closure = "; its time holds what its closure does outside of compiled graphs"
                cost = Cost(per_step=Figure(each, known), saves_at_most=Figure(spent, known))
            yield Draft(
                "eager optimizer",
                key=(name,),
                title=f"the step of {name} runs eager{share}",
                cause=f"it is called outside of what is compiled{of_closure}",
                processes=(process,),
                cost=cost,
                remedies=remedy(
                    "eager optimizer",
                    "compile it as well: `step = torch.compile(optimizer.step)`, called in its place.",
                ),
            )


def _steps_of(optimizer: Optimizer, process: Process) -> WindowSpan | None:
    """Its steps in the profiled window, where torch names the class alone; None where that is not enough."""
    names = [each.name.rpartition(".")[2] for each in process.optimizers]
    name = optimizer.name.rpartition(".")[2]
    if process.window is None or names.count(name) > 1:
        return None
    spans = process.window.spans
    return next((span for span in spans if (span.kind, span.name) == ("optimizer step", name)), None)
