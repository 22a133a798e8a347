"""Names of torch that differ between its versions: as installed, and as others have them."""

import functools
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.fx import _symbolic_trace

from dynamo_core.capture.torch_versions import is_traced_by_fx, set_in_every_thread


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


@pytest.mark.parametrize(
    ("way", "name", "value"),
    [
        (("torch", "_dynamo", "config"), "capture_scalar_outputs", True),
        (("torch", "_inductor", "config", "cpp"), "simdlen", 256),  # in a group
        (("torch", "_inductor", "config"), "post_grad_custom_post_pass", print),
    ],
)
def test_a_setting_holds_in_every_thread(way: tuple[str, ...], name: str, value: object) -> None:
    import torch._inductor.config  # the group `cpp` is made by it

    holder = functools.reduce(getattr, way[1:], torch)

    def seen_in_a_thread() -> object:
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(getattr, holder, name).result()

    before = getattr(holder, name)
    undo = set_in_every_thread(holder, name, value)
    try:
        assert (getattr(holder, name), seen_in_a_thread()) == (value, value)
    finally:
        undo()
    assert (getattr(holder, name), seen_in_a_thread()) == (before, before)
