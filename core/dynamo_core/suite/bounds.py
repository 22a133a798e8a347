"""Bounds of a suite, for CI: what each program must reach under each backend, and all of them together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ..bench.measured import EAGER
from ..shared.errors import SuiteProblem
from ..shared.quick_dataclass import dataclass
from .rows import ProgramResult, Row
from .summary import BackendSummary
from .toml_values import ValueProblem, number, refuse_unknown

BOUNDS_OF_PROGRAM = ("min-speed-up", "max-compile-seconds", "max-graph-breaks", "max-recompiles")
BOUNDS_OF_SUITE = (*BOUNDS_OF_PROGRAM, "min-geometric-mean", "min-pass-rate")


@dataclass(frozen=True)
class Bounds:
    """None is no bound. Four are of each program under each backend but eager, the last two of all."""

    min_speed_up: float | None = None
    max_compile_seconds: float | None = None
    max_graph_breaks: float | None = None
    max_recompiles: float | None = None
    min_geometric_mean: float | None = None
    min_pass_rate: float | None = None

    def of_programs(self) -> "Bounds":
        """Without those of all programs together."""
        return replace(self, min_geometric_mean=None, min_pass_rate=None)

    def together(self, nearer: "Bounds") -> "Bounds":
        """Both; where they differ, the nearer one's."""
        own = {each.name: getattr(nearer, each.name) for each in fields(nearer)}
        return replace(self, **{name: value for name, value in own.items() if value is not None})


@dataclass(frozen=True)
class Beyond:
    """A bound that is not kept. `program` is None where it is of all programs together, and then `hardware`
    is that of a mean, where there were several.
    """

    program: str | None
    backend: str
    bound: str
    limit: float
    found: str
    hardware: str | None = None

    @property
    def subject(self) -> str:
        """What does not keep it, in words."""
        if self.program is not None:
            return f"{self.program} under {self.backend}"
        return self.backend if self.hardware is None else f"{self.backend} on {self.hardware}"


def bounds_from(where: str, table: Any, known: tuple[str, ...]) -> Bounds:
    """The bounds of a table of the suite's file; SuiteProblem says what is wrong with it."""
    if not isinstance(table, Mapping):
        raise SuiteProblem(f"{where} is no table")
    refuse_unknown(where, table, known)
    try:
        return Bounds(**{key.replace("-", "_"): number(table, key) for key in table})
    except ValueProblem as problem:
        raise SuiteProblem(f"{where}: {problem}") from problem


def beyond_of_program(result: ProgramResult, bounds: Bounds) -> Iterator[Beyond]:
    """The bounds that a program does not keep; one that could not run keeps none that needs a figure."""
    for row in result.rows:
        if not row.is_eager:
            for bound, limit, found, is_kept in _held(row, bounds):
                if limit is not None and not is_kept:
                    yield Beyond(result.program, row.backend, bound, limit, found)


def beyond_of_suite(
    summaries: Sequence[BackendSummary], pass_rates: Mapping[str, float], bounds: Bounds
) -> Iterator[Beyond]:
    """The same of all programs under a backend; a mean is of one kind of hardware."""
    for backend in pass_rates:
        own = [each for each in summaries if each.backend == backend]
        for each in [each for each in own if each.compared] or own[:1]:
            least, mean = bounds.min_geometric_mean, each.geometric_mean
            if least is not None and backend != EAGER and (mean is None or mean < least):
                yield Beyond(None, backend, "min-geometric-mean", least, _figure(mean), each.hardware)
    least = bounds.min_pass_rate
    for backend, rate in pass_rates.items():
        if least is not None and rate < least:
            yield Beyond(None, backend, "min-pass-rate", least, _figure(rate))


def _held(row: Row, bounds: Bounds) -> Iterator[tuple[str, float | None, str, bool]]:
    """Each bound of a program: its name, its limit, what was found, and whether it is kept.

    A speed-up is too small where all of its interval is below the bound: noise fails no build.
    """
    speed = row.speed_up if row.has_passed else None
    mean = None if speed is None else speed.mean
    reached = speed is not None and (speed.high or speed.mean) >= (bounds.min_speed_up or 0)
    yield "min-speed-up", bounds.min_speed_up, _figure(mean), reached
    most = (
        ("max-compile-seconds", bounds.max_compile_seconds, row.compile_cold_seconds),
        ("max-graph-breaks", bounds.max_graph_breaks, row.graph_breaks),
        ("max-recompiles", bounds.max_recompiles, row.recompiles),
    )
    for name, limit, value in most:
        yield name, limit, _figure(value), value is not None and (limit is None or value <= limit)


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.3f}".rstrip("0").rstrip(".")
