"""A graph run in float64, beside the program's own run."""

import math

import pytest
import torch

from dynamo_core.backends.agreement.reference import in_float64, shares_memory


def test_a_run_in_float64_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """tqdm starts one for the progress bar of torch.fx's interpreter, which is not shown."""
    monkeypatch.setattr("torch.fx.interpreter.tqdm", lambda **_: pytest.fail("a progress bar"))
    graph = torch.fx.symbolic_trace(lambda x: (x.sin() + 1).sum())
    made = in_float64(graph, [torch.ones(3)])
    assert made is not None
    run, inputs = made
    for _ in range(2):
        assert run(*inputs).item() == pytest.approx(3 * (math.sin(1) + 1), abs=1e-12)


def test_a_result_that_is_a_view_of_an_argument() -> None:
    x = torch.ones(3)
    assert shares_memory(x[1:], [2, x])
    assert not shares_memory(x + 1, [x])
    assert not shares_memory(x.to_sparse(), [x.to_sparse()])
    assert not shares_memory(3, [x])
