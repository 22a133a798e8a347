"""Which calls of the program are compared."""

from time import perf_counter_ns
from unittest.mock import Mock

import pytest
import torch

from dynamo_core.capture.interventions import verified_program
from dynamo_core.capture.interventions.verified_program import ProgramVerifier
from dynamo_core.shared.settings import Settings


def verifier(budget: float | None) -> ProgramVerifier:
    return ProgramVerifier(Mock(), Settings("", verify="report", verify_budget=budget))


def test_nothing_more_is_compared_once_the_budget_is_spent() -> None:
    assert torch.compiler.is_compiling() is False
    without, small = verifier(None), verifier(0.05)
    assert without.may_verify() == small.may_verify() is None
    for each in (without, small):
        each.spend(20 * 10**9)
    assert without.may_verify() is None  # 60 s are free
    assert small.may_verify() == "comparing had taken its share of the time (--verify-budget)"
    without.spend(60 * 10**9)
    assert without.may_verify() is not None


@pytest.mark.parametrize(("seconds", "has_time"), [(10, True), (30, False)])
def test_a_comparison_that_would_exceed_the_budget_is_not_begun(
    seconds: int, has_time: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = verifier(0.5)
    for _ in range(30 // seconds):
        half.spend(seconds * 10**9)
    later = perf_counter_ns() + 100 * 10**9
    monkeypatch.setattr(verified_program, "perf_counter_ns", lambda: later)
    assert (half.may_verify() is None) == has_time
