"""The rows of a suite: a program under a backend, as it is kept on disk and as it is shown."""

from pathlib import Path
from typing import Literal

from ..bench.agreement import Verdict
from ..bench.comparison import Basis, Figures, compare
from ..bench.machine import Machine
from ..bench.measured import EAGER, Bench
from ..shared.quick_dataclass import dataclass
from ..timing.ratios import Ratio

_LARGEST = 1e9  # of a speed-up

Outcome = Literal["passed", "disagrees", "failed"]


@dataclass(frozen=True)
class Speed:
    """How many times as fast as eager, and the 95 % interval, which one round does not give."""

    mean: float
    low: float | None
    high: float | None
    rounds: int


@dataclass(frozen=True)
class Row:
    """A program under a backend. What was not measured is None.

    It has `passed` where every run came to its end and its outputs do not disagree with eager's. `log` is the
    file, from the folder of results, with what the run wrote to stderr; that on stdout lies beside it.
    `median_seconds` is of a step, or of the run (`basis`); `compile_warm_seconds` the median of later rounds.
    """

    backend: str
    outcome: Outcome
    problem: str | None = None
    log: str | None = None
    basis: Basis | None = None
    median_seconds: float | None = None
    speed_up: Speed | None = None
    compile_cold_seconds: float | None = None
    compile_warm_seconds: float | None = None
    peak_bytes: float | None = None
    peak_cuda_bytes: float | None = None
    graphs: int | None = None
    graph_breaks: int | None = None
    recompiles: int | None = None
    agreement: Verdict | None = None
    agreement_detail: str | None = None

    @property
    def is_eager(self) -> bool:
        """Whether it is the program without Dynamo."""
        return self.backend == EAGER

    @property
    def has_passed(self) -> bool:
        """Whether it counts for the geometric mean."""
        return self.outcome == "passed"


@dataclass(frozen=True)
class ProgramResult:
    """The rows of a program, one a backend, eager first; none where it was not run (`skipped` says why).

    `key` is a digest of all that it was measured with; where that is another one, it is measured again.
    `script_sha256` is of the script's content; None where the program is no script.
    """

    program: str
    command: str
    key: str
    skipped: str | None
    rows: tuple[Row, ...]
    took_seconds: float
    finished: str
    machine: Machine | None = None
    script_sha256: str | None = None

    @property
    def hardware(self) -> str | None:
        """What it was measured on; None where that is not known."""
        return None if self.machine is None else self.machine.hardware

    def row(self, backend: str) -> Row | None:
        """The row of a backend."""
        return next((row for row in self.rows if row.backend == backend), None)


def rows_of(bench: Bench, folder: Path) -> tuple[Row, ...]:
    """The rows of a program that was measured with its recordings in `folder`."""
    return tuple(_row(figures, folder) for figures in compare(bench))


def rows_without_figures(backends: tuple[str, ...], problem: str, log: str | None) -> tuple[Row, ...]:
    """The rows of a program that fails without any compiling."""
    return tuple(Row(backend, "failed", problem, log) for backend in backends)


def _speed(ratio: Ratio) -> Speed:
    low, high = ratio.interval or (None, None)
    # Two rounds that differ much have an end that is no number in JSON.
    return Speed(ratio.estimate, low, None if high is None else min(high, _LARGEST), ratio.rounds)


def log_name(folder: Path, log: str) -> str:
    """A file in a program's `folder`, as it is named from the folder of results."""
    return f"{folder.parent.name}/{folder.name}/{Path(log).name}"


def _row(figures: Figures, folder: Path) -> Row:
    backend, first, speed = figures.backend, figures.first_success, figures.speed_up
    is_wrong = backend.agreement.verdict == "disagrees"
    failed = next((run for run in backend.runs.values() if run.problem is not None), None)
    return Row(
        backend=backend.name,
        outcome="failed" if failed is not None else "disagrees" if is_wrong else "passed",
        problem=backend.problem,
        log=None if failed is None or failed.log is None else log_name(folder, failed.log),
        basis=figures.basis if figures.seconds else None,
        median_seconds=figures.median_seconds,
        speed_up=None if speed is None else _speed(speed),
        compile_cold_seconds=figures.compile_cold,
        compile_warm_seconds=figures.compile_warm,
        peak_bytes=figures.peak_resident,
        peak_cuda_bytes=figures.peak_cuda,
        graphs=None if first is None else first.graphs,
        graph_breaks=None if first is None else first.graph_breaks,
        recompiles=None if first is None else first.recompiles,
        agreement=None if backend.is_eager else backend.agreement.verdict,
        agreement_detail=None if backend.is_eager else backend.agreement.detail,
    )
