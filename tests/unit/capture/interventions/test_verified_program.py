"""Calls of the program are compared without the program noticing."""

from typing import Any
from unittest.mock import Mock

import pytest
import torch

from dynamo_core.capture.interventions.verified_program import (
    ComparedFunction,
    ProgramVerifier,
    start_autograd,
)
from dynamo_core.capture.interventions.verify_budget import VerifyBudget
from dynamo_core.capture.probe_guard import ProbeGuard


class Seeing(torch.overrides.TorchFunctionMode):
    """Notes what is called of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_modes_of_the_program_do_not_see_what_is_done_to_compare() -> None:
    verifier = ProgramVerifier(ProbeGuard(Mock()), Mock(verify="error"), VerifyBudget(None))
    with Seeing() as mode:
        assert verifier.guarded(lambda: torch.ones(2).sum().item())() == 2.0
        assert mode.seen == []
        torch.ones(2)
    assert len(mode.seen) == 1


@pytest.mark.parametrize(
    ("cuda", "has_gpu", "backwards"), [("13.2", False, 1), ("13.2", True, 0), (None, False, 0)]
)
def test_autograd_starts_before_compiling_where_cuda_has_no_gpu(
    cuda: str | None, has_gpu: bool, backwards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = []
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    monkeypatch.setattr(torch.Tensor, "backward", lambda tensor: began.append(tensor.requires_grad))
    with torch.inference_mode():
        start_autograd()
    assert began == [True] * backwards


def test_what_a_call_returned_is_known_while_the_program_has_it() -> None:
    function = ComparedFunction(Mock(beginnings=0), "eager")
    first, second = torch.ones(2), torch.zeros(2)
    function._keep_returned([first, second])
    del second
    assert function._returned_before() == {"of the call before, result[0]": first}
