"""An exported program beside eager: what is compared, and that the module is afterwards as it was."""

from typing import Any

import pytest
import torch
from torch import nn

from dynamo_core.capture.exporting.trial import Call, compared, described_error


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout(0.5)

    def forward(self, x: Any, total: Any) -> Any:
        total += 1
        return {"y": self.drop(self.norm(x))}


def call() -> Call:
    return Call((torch.randn(3, 4),), {"total": torch.zeros(1)})


def test_outputs_changed_inputs_and_buffers_are_compared_on_the_same_random_numbers() -> None:
    net, given = Net(), call()
    before = torch.get_rng_state(), net.norm.get_buffer("running_mean").clone()
    result = compared(net, net, given)
    assert (result.outcome, result.compared) == ("agrees", 6)  # y, x, total and the three of the norm
    assert result.sizes == {"x": [3, 4], "total": [1]}
    assert torch.get_rng_state().equal(before[0]) and net.norm.get_buffer("running_mean").equal(before[1])
    assert given.kwargs["total"].item() == 0


@pytest.mark.parametrize(
    ("other", "worst"),
    [
        (lambda net: lambda x, total: {"y": net(x, total)["y"] + 1}, "output['y']"),
        (lambda net: lambda x, total: net(x, total.clone()), "input total"),
    ],
)
def test_what_differs_is_named(other: Any, worst: str) -> None:
    net = Net().eval()
    result = compared(net, other(net), call())
    assert result.outcome == "disagrees"
    assert result.worst is not None and result.worst["name"] == worst


def test_a_program_that_raises_or_gives_something_else_disagrees() -> None:
    def raises(x: Any, total: Any) -> None:
        raise AssertionError("Guard failed: x.size()[0] == 2")

    net = Net().eval()
    assert compared(net, raises, call()).why == "it raises AssertionError: Guard failed: x.size()[0] == 2"
    gives_less = compared(net, lambda x, total: {}, call())
    assert (gives_less.outcome, gives_less.compared) == ("disagrees", 0)


def test_an_error_is_at_the_line_of_the_program_that_it_was_raised_in() -> None:
    try:
        nn.Linear(2, 3)(torch.zeros(5))
    except RuntimeError as error:
        described = described_error(error)
    (frame,) = described["user_stack"]  # none of torch's
    assert (frame["file"], frame["text"]) == (__file__, "nn.Linear(2, 3)(torch.zeros(5))")
