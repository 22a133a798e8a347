"""What a suite's rows amount to: summaries, changes since an earlier run, and bounds that are not kept."""

from collections.abc import Sequence
from itertools import chain

from ..shared.quick_dataclass import dataclass
from .bounds import Beyond, beyond_of_program, beyond_of_suite
from .comparison import WORSE, Difference, differences, on_other_hardware, undecided
from .rows import ProgramResult
from .runner import SuiteRun
from .summary import BackendSummary, pass_rates, summarize


@dataclass(frozen=True)
class Compared:
    """The differences from an `older` run. `undecided` rows have no interval on either side (one round).

    Rows `on_other_hardware` were measured on different machines, or it is not known of one on which.
    """

    older: str
    differences: tuple[Difference, ...]
    undecided: int
    on_other_hardware: int

    @property
    def worse(self) -> list[Difference]:
        """Those that fail a build."""
        return [each for each in self.differences if each.change in WORSE]


@dataclass(frozen=True)
class Judged:
    """A run of a suite, and what it amounts to."""

    run: SuiteRun
    summaries: tuple[BackendSummary, ...]
    compared: Compared | None
    beyond: tuple[Beyond, ...]


def judged(run: SuiteRun, older: str | None, before: Sequence[ProgramResult]) -> Judged:
    """`before` are the results of an `older` run, if there is one."""
    summaries = summarize(run.results)
    compared = None
    if older is not None:
        after = run.results
        if run.is_interrupted:  # what was not run yet is not gone
            done = {result.program for result in after}
            before = [result for result in before if result.program in done]
        compared = Compared(
            older,
            differences(before, after),
            undecided(before, after),
            on_other_hardware(before, after),
        )
    bounds = {program.name: program.bounds for program in run.suite.programs}
    of_programs = (beyond_of_program(result, bounds[result.program]) for result in run.results)
    of_all = beyond_of_suite(summaries, pass_rates(run.results), run.suite.bounds)
    beyond = (*chain(*of_programs), *(() if run.is_interrupted else of_all))
    return Judged(run, summaries, compared, beyond)
