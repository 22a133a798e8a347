"""How long ranks exchanged gradients, as DistributedDataParallel timed it: who came last, and who waited."""

from collections.abc import Mapping, Sequence

from ...model import Process
from ...shared.quick_dataclass import dataclass
from ..words import seconds

_WORTH_A_TITLE = 1e-2  # seconds of a step
_TIMES_LONGER = 2


@dataclass(frozen=True)
class GradientsOfRank:
    """The last step of a rank that torch timed, around a `module` of this class.

    The exchange ends when the gradients of all ranks have come. The average is of all steps that were timed.
    """

    rank: int
    module: str
    step: int
    forward_seconds: float
    backward_seconds: float
    exchange_seconds: float
    average_exchange_seconds: float


def gradients_exchanged(ranks: Mapping[int, Process]) -> tuple[GradientsOfRank, ...]:
    """What was timed on each of these ranks, module by module."""
    return tuple(
        GradientsOfRank(
            rank,
            each.module,
            each.step,
            each.forward_ns / 1e9,
            each.backward_ns / 1e9,
            each.exchange_ns / 1e9,
            each.average_exchange_ns / 1e9,
        )
        for rank, process in sorted(ranks.items())
        for each in process.runtime.gradient_exchanges
    )


def who_came_last(exchanged: Sequence[GradientsOfRank]) -> str | None:
    """The rank that others wait for to exchange gradients, in words; None where no rank is the last.

    It is the one with the shortest exchange, in the last step and on average, where another's was twice as
    long and 10 ms longer.
    """
    steps: dict[tuple[str, int], list[GradientsOfRank]] = {}
    for each in exchanged:
        steps.setdefault((each.module, each.step), []).append(each)
    for (_, step), of_step in steps.items():
        if len({each.rank for each in of_step}) < len(of_step):
            continue  # several modules of one class on a rank, in whatever order
        last = min(of_step, key=lambda each: each.exchange_seconds)
        longest = max(of_step, key=lambda each: each.exchange_seconds)
        is_last_on_average = last is min(of_step, key=lambda each: each.average_exchange_seconds)
        longer = longest.exchange_seconds - last.exchange_seconds
        is_longer = longest.exchange_seconds >= _TIMES_LONGER * last.exchange_seconds
        if is_last_on_average and is_longer and longer >= _WORTH_A_TITLE:
            shortest = seconds(last.exchange_seconds)
            return (
                f"rank {last.rank} came last to exchange gradients: in step {step} that took {shortest} "
                f"there, and {seconds(longest.exchange_seconds)} on rank {longest.rank}"
            )
    return None
