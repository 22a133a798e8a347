"""Autotune on a cluster: each graph is a task, and all its candidates are timed on one machine, in turn.

Only times that were taken in this way can be compared.
"""

import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...launch.program import default_python
from ...shared import winners
from ...shared.errors import NotMeasured
from ...shared.quick_dataclass import dataclass
from ...shared.winners import Tuned
from ..ray_cluster import Lost, Needs, RayCluster, Task
from .rounds import Bench
from .tuning import GraphToTune, Result, tune


@dataclass(frozen=True)
class MeasureOptions:
    """How graphs are measured on workers. `python` is None for the one that is found on the machine."""

    python: str | None
    import_path: tuple[str, ...]
    time_limit: float
    budget: float


def tune_on(
    cluster: RayCluster,
    graphs: Sequence[GraphToTune],
    candidates: Sequence[str] | None,
    options: MeasureOptions,
    file: Path,
    *,
    again: bool,
    tell: Callable[[str], None],
) -> Iterator[tuple[int, Result, dict[str, str]]]:
    """For each graph: its index, its result, and the unusable candidates, in the order in which they end.

    A winner is in the autotune file before its result is given.
    """
    stored = tuple(winners.read_if_there(file))
    tasks = [
        Task(
            f"graph {place + 1} of {len(graphs)}",
            tune_here,
            (graph, tuple(candidates or ()), options, stored, again),
            Needs(gpus=1.0 if "cuda" in graph.kinds else 0.0),
        )
        for place, graph in enumerate(graphs)
    ]
    places = {id(task): place for place, task in enumerate(tasks)}
    for task, answer in cluster.run(tasks, tell):
        place = places[id(task)]
        if isinstance(answer, Lost):
            yield place, Result(graphs[place], None, f"its worker was lost each time: {answer.how}"), {}
            continue
        result, unusable = answer
        if result.tuned is not None and result.is_new:
            winners.store(file, [result.tuned])
        yield place, result, unusable


def tune_here(
    graph: GraphToTune,
    candidates: Sequence[str],
    options: MeasureOptions,
    stored: Sequence[Tuned],
    again: bool,
) -> tuple[Result, dict[str, str]]:
    """On a worker: the result of a graph, and why candidates cannot be used here."""
    with tempfile.TemporaryDirectory(prefix="dynamo-autotune-") as scratch:
        file = Path(scratch) / "autotuned.json"
        winners.store(file, stored)
        try:
            with Bench(
                python=options.python or default_python(),
                import_path=options.import_path,
                time_limit=options.time_limit,
                budget=options.budget,
            ) as bench:
                [result] = tune(
                    [graph], candidates or None, bench, file, again=again, progress=lambda *_: None
                )
                unusable = bench.unusable()
        except NotMeasured as error:  # for example, this machine has no torch
            result, unusable = Result(graph, None, f"on {platform.node()}: {error}"), {}
    host = platform.node()
    return replace(result, host=host), {name: f"{why} (on {host})" for name, why in unusable.items()}
