"""Which rank comes last to exchange gradients, by the times that torch has taken."""

import pytest

from dynamo_core.analysis.ranks import GradientsOfRank, compare_ranks, who_came_last
from dynamo_core.model import GradientExchange
from support.ranks_by_hand import of, rank


def exchanged(
    number: int, seconds: float, average: float, module: str = "Net", step: int = 10
) -> GradientsOfRank:
    return GradientsOfRank(number, module, step, 0.1, 0.2, seconds, average)


def test_the_times_of_each_rank_are_in_seconds() -> None:
    ranks = [rank(number) for number in (0, 1)]
    ranks[1].runtime.gradient_exchanges.append(
        GradientExchange(
            module="Net",
            step=10,
            forward_ns=1_000_000,
            backward_ns=2_000_000,
            exchange_ns=3_000_000,
            average_exchange_ns=4_000_000,
        )
    )
    assert compare_ranks(of(*ranks)).gradients == (GradientsOfRank(1, "Net", 10, 0.001, 0.002, 0.003, 0.004),)


def test_the_shortest_exchange_is_that_of_the_rank_that_came_last() -> None:
    ranks = [exchanged(0, 0.31, 0.25), exchanged(1, 0.004, 0.06), exchanged(2, 0.32, 0.24)]
    assert who_came_last(ranks) == (
        "rank 1 came last to exchange gradients: in step 10 that took 4 ms there, and 320 ms on rank 2"
    )


@pytest.mark.parametrize(
    "others",
    [
        [exchanged(1, 0.20, 0.05)],  # less than twice as long
        [exchanged(1, 0.305, 0.05), exchanged(0, 0.30, 0.05, step=100)],  # nor is another step compared
        [exchanged(1, 0.01, 0.5)],  # the other one was last on average
        [exchanged(1, 0.01, 0.05, module="Other")],
        [exchanged(0, 0.01, 0.05), exchanged(1, 0.3, 0.3)],  # two such modules on one rank
        [],
    ],
)
def test_no_rank_is_named_where_that_is_not_clear(others: list[GradientsOfRank]) -> None:
    assert who_came_last([exchanged(0, 0.31, 0.25), *others]) is None


def test_a_few_milliseconds_are_no_wait() -> None:
    assert who_came_last([exchanged(0, 0.009, 0.009), exchanged(1, 0.001, 0.001)]) is None
