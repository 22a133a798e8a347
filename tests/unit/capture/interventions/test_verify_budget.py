"""How much time may be taken for comparing calls of the program and of graphs."""

from time import perf_counter_ns
from unittest.mock import Mock

import pytest
import torch

from dynamo_core.capture.interventions import verify_budget
from dynamo_core.capture.interventions.verified_program import ProgramVerifier
from dynamo_core.capture.interventions.verify import Verifier
from dynamo_core.capture.interventions.verify_budget import VerifyBudget
from dynamo_core.shared.settings import Settings

SECOND = 10**9
SPENT = "comparing had taken its share of the time (--verify-budget)"


def test_nothing_more_is_compared_once_the_budget_is_spent() -> None:
    without, small = VerifyBudget(None), VerifyBudget(0.05)
    assert without.why_spent() is small.why_spent() is None
    for each in (without, small):
        each.spend(20 * SECOND)
    assert without.why_spent() is None  # 60 s are free
    assert small.why_spent() == SPENT
    without.spend(60 * SECOND)
    assert without.why_spent() == SPENT


@pytest.mark.parametrize(("seconds", "has_time"), [(10, True), (30, False)])
def test_a_comparison_that_would_exceed_the_budget_is_not_begun(
    seconds: int, has_time: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = VerifyBudget(0.5)
    for _ in range(30 // seconds):
        half.spend(seconds * SECOND)
    later = perf_counter_ns() + 100 * SECOND
    monkeypatch.setattr(verify_budget, "perf_counter_ns", lambda: later)
    assert (half.why_spent() is None) == has_time


def outcomes_of_graph(budget: VerifyBudget, calls: int) -> list[tuple[str, str | None]]:
    """What is recorded of so many calls of a graph."""
    probes = Mock()
    graph = torch.fx.symbolic_trace(torch.nn.ReLU())
    call = Verifier(probes, budget).before(graph, None, 1)(graph, graph)
    for _ in range(calls):
        assert torch.equal(call(torch.ones(2)), torch.ones(2))
    recorded = [each.args[0] for each in probes.stream.record.call_args_list]
    return [(each.outcome, each.why) for each in recorded]


def test_graphs_and_calls_have_one_budget() -> None:
    budget = VerifyBudget(0.05)
    verifier = ProgramVerifier(Mock(), Settings("", verify="report"), budget)
    assert outcomes_of_graph(VerifyBudget(None), 3) == [("agrees", None), ("agrees", None)]
    assert outcomes_of_graph(budget, 1) == [("agrees", None)]
    budget.spend(20 * SECOND)
    assert verifier.may_verify() == SPENT
    assert outcomes_of_graph(budget, 3) == [("not verified", SPENT), ("not verified", SPENT)]


def test_the_time_of_a_graph_counts() -> None:
    budget = VerifyBudget(1e-12)
    assert outcomes_of_graph(budget, 2) == [("agrees", None), ("not verified", SPENT)]


def test_no_line_is_looked_for_where_the_stage_is_enough() -> None:
    for verify, finds in (("report", True), ("stage", False)):
        settings, budget = Settings("", verify=verify), VerifyBudget(None)
        assert ProgramVerifier(Mock(), settings, budget).finds_lines is finds
        assert Verifier(Mock(), budget, finds).may_search() is finds


def test_nothing_is_compared_where_it_has_ended() -> None:
    budget = VerifyBudget(1.0)
    assert budget.why_spent() is None
    budget.end()
    assert budget.why_spent() is not None
