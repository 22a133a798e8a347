"""Values that compiled code does not read any more."""

import torch

from dynamo_core.capture.interventions.folded_values import folded, other_values
from dynamo_core.capture.interventions.observed_state import observe


def test_what_a_call_reads_is_not_folded() -> None:
    read, unread = torch.ones(2, 3), torch.ones(3)
    known = read.clone()

    def call() -> dict[str, list[object]]:
        return observe({"result": read.sum() + known.sum()}, set())

    assert [id(each) for each in folded(call, [read, unread])] == [id(unread)]
    assert torch.equal(read, known)


def test_what_a_call_reads_counts_where_its_results_have_the_same_memory() -> None:
    read, kept = torch.ones(3), torch.zeros(3)
    assert folded(lambda: observe({"result": kept.copy_(read)}, set()), [read]) == []


def test_other_values_stand_for_a_while() -> None:
    weight = torch.nn.Parameter(torch.zeros(3))
    with other_values([weight]):
        assert (weight != 0).all()
    assert weight.tolist() == [0.0, 0.0, 0.0]
