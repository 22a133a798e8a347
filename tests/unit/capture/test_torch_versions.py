"""Names of torch that differ between its versions: as installed, and as others have them."""

import pytest
import torch
from torch.fx import _symbolic_trace

from dynamo_core.capture.torch_versions import is_traced_by_fx


def test_symbolic_tracing_of_fx_is_noticed() -> None:
    seen = []

    class Traced(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(is_traced_by_fx())
            return x + 1

    torch.fx.symbolic_trace(Traced())

    assert seen == [True]
    assert not is_traced_by_fx()


def test_from_2_15_on_a_function_says_whether_fx_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_symbolic_trace, "_is_fx_tracing_flag", raising=False)
    monkeypatch.setattr(_symbolic_trace, "_get_is_fx_tracing", lambda: True, raising=False)

    assert is_traced_by_fx()
