"""The rows of a suite (a program under a backend), as they are stored and shown, and their summaries."""

from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Literal

from ...shared.quick_dataclass import dataclass
from ..comparison import Basis, Figures, Speed, compare, speed_of
from ..measured import EAGER, Bench, Machine, Verdict

Outcome = Literal["passed", "disagrees", "failed"]


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
    """The rows of a program that fails even in eager."""
    return tuple(Row(backend, "failed", problem, log) for backend in backends)


def log_name(folder: Path, log: str) -> str:
    """The path of a file in a program's `folder`, relative to the folder of results."""
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
        speed_up=None if speed is None else speed_of(speed),
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


@dataclass(frozen=True)
class BackendSummary:
    """A backend over all programs that were run with it on one kind of hardware, which is named where there
    were several: no mean is taken over machines that differ.

    The geometric mean is over the `compared` programs: those that passed and have a speed-up. `faster` and
    `slower` count those whose interval says so. `verified` is how many of those that passed agree with eager;
    of the others nothing could be compared.
    """

    backend: str
    programs: int
    passed: int
    failed: int
    disagreeing: int
    verified: int
    compared: int
    geometric_mean: float | None
    faster: int
    slower: int
    pass_rate: float
    hardware: str | None = None


def summarize(results: Sequence[ProgramResult]) -> tuple[BackendSummary, ...]:
    """A summary for each backend on each hardware, in order of appearance."""
    kinds = _hardware(results)
    has_several = len(set(kinds.values())) > 1
    rows: dict[tuple[str, str | None], list[Row]] = {}
    for result in results:
        hardware = None
        if has_several and result.rows:
            hardware = "no machine" if result.machine is None else kinds[_machine_key(result.machine)]
        for row in result.rows:
            rows.setdefault((row.backend, hardware), []).append(row)
    return tuple(_summary(backend, found, hardware) for (backend, hardware), found in rows.items())


def pass_rates(results: Sequence[ProgramResult]) -> dict[str, float]:
    """The share of programs that passed, by backend, on all hardware."""
    passed: dict[str, list[bool]] = {}
    for result in results:
        for row in result.rows:
            passed.setdefault(row.backend, []).append(row.has_passed)
    return {backend: sum(outcomes) / len(outcomes) for backend, outcomes in passed.items()}


def _machine_key(machine: Machine) -> tuple[str, str]:
    """What identifies a machine: containers on different machines may have the same host name."""
    return machine.host, machine.cpu


def _hardware(results: Sequence[ProgramResult]) -> dict[tuple[str, str], str]:
    """The CPU of each machine, and the GPUs that any program used there."""
    machines = [result.machine for result in results if result.machine is not None and result.rows]
    return {
        key: ", ".join(
            dict.fromkeys(
                [key[1], *(gpu for each in machines if _machine_key(each) == key for gpu in each.gpus)]
            )
        )
        for key in map(_machine_key, machines)
    }


def _summary(backend: str, rows: Sequence[Row], hardware: str | None) -> BackendSummary:
    passed = [row for row in rows if row.has_passed]
    speeds = [row.speed_up for row in passed if row.speed_up is not None]
    return BackendSummary(
        backend=backend,
        programs=len(rows),
        passed=len(passed),
        failed=sum(row.outcome == "failed" for row in rows),
        disagreeing=sum(row.outcome == "disagrees" for row in rows),
        verified=sum(row.agreement == "agrees" for row in passed),
        compared=len(speeds),
        geometric_mean=geometric_mean(speed.mean for speed in speeds) if speeds else None,
        faster=sum(speed.low is not None and speed.low > 1 for speed in speeds),
        slower=sum(speed.high is not None and speed.high < 1 for speed in speeds),
        pass_rate=len(passed) / len(rows),
        hardware=hardware,
    )
