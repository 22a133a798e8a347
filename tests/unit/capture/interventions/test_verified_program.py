"""Which calls of the program are compared."""

from unittest.mock import Mock

import torch

from dynamo_core.capture.interventions.verified_program import ProgramVerifier
from dynamo_core.shared.settings import Settings


def verifier(budget: float | None) -> ProgramVerifier:
    return ProgramVerifier(Mock(), Settings("", verify="report", verify_budget=budget))


def test_nothing_more_is_compared_once_the_budget_is_spent() -> None:
    assert torch.compiler.is_compiling() is False
    without, small = verifier(None), verifier(0.05)
    assert without.may_verify() == small.may_verify() is None
    for each in (without, small):
        each.spend(30 * 10**9)
    assert without.may_verify() is None  # 60 s are free
    assert small.may_verify() == "comparing had taken its share of the time (--verify-budget)"
    without.spend(60 * 10**9)
    assert without.may_verify() is not None
