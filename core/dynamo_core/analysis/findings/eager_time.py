"""Findings: time that steps spend outside of compiled graphs: eager code, optimizers, loaders."""

from collections.abc import Iterator

from ...model import Place, Process
from ..figures import Figures
from ..time.coverage import coverage
from ..words import place, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Cost, Evidence, Figure
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
    """Waiting for a DataLoader, as the window of --profile saw it.

    Source: torch/utils/data/dataloader.py (_BaseDataLoaderIter.__next__), whose span has that name.
    """
    for process in figures.recording.processes:
        window = process.window
        waits = [
            operator
            for operator in (() if window is None else window.operators)
            if operator.name.startswith("enumerate(DataLoader)") and operator.part is None
        ]
        waited = sum(operator.total_seconds for operator in waits)
        if window is None or waited < _MUCH * window.seconds:
            continue
        each = waited / window.steps
        yield Draft(
            "slow loader",
            key=(),
            title=f"steps wait for the DataLoader: {seconds(each)} in each",
            cause=f"{waited / window.seconds:.0%} of the time in steady steps passes in its __next__",
            processes=(process,),
            cost=Cost(per_step=Figure(each, "measured"), saves_at_most=Figure(waited, "measured")),
            evidence=Evidence(records=tuple(operator.name for operator in waits)),
            remedies=remedy(
                "slow loader",
                "let workers load ahead: `DataLoader(..., num_workers=N)`, or do less in the dataset.",
            ),
        )


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
            spent = _seconds_in(process, optimizer.file)
            share = "" if spent is None or process.window is None else f"; {seconds(spent)} of each step"
            yield Draft(
                "eager optimizer",
                key=(name,),
                title=f"the step of {name} runs eager{share}",
                cause="it is called outside of what is compiled",
                processes=(process,),
                cost=Cost()
                if spent is None or process.window is None
                else Cost(
                    per_step=Figure(spent, "measured"),
                    saves_at_most=Figure(spent * process.window.steps, "measured"),
                ),
                remedies=remedy(
                    "eager optimizer",
                    "compile it as well: `step = torch.compile(optimizer.step)`, called in its place.",
                ),
            )


def _seconds_in(process: Process, file: str) -> float | None:
    """What operators called from a file took in each step of the profiled window; None without one."""
    window = process.window
    if window is None:
        return None
    spent = [o.seconds for o in window.eager if o.place is not None and o.place.file == file]
    return sum(spent) / window.steps if spent else None
