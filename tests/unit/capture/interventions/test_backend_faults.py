"""What compared values show a backend to have done to a whole graph, and when they show nothing."""

from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.backend_faults import (
    KeptCall,
    is_of_the_first_call,
    is_wrong_for_a_copy,
    what_it_did,
)

NAMES = ["output 0 (a)", "output 1 (b)", "output 2 (c)"]
ONE, TWO, THREE = (torch.full((2,), float(each)) for each in (1, 2, 3))
EAGER = [ONE, TWO, THREE]


def said(outputs: list[Any], written: tuple[str, ...] = (), *, again: bool = False) -> str | None:
    """What the backend did, of a graph that gives ONE, TWO and THREE."""

    def agree(i: int, j: int) -> bool:
        return isinstance(outputs[i], torch.Tensor) and torch.equal(outputs[i], EAGER[j])

    wrong = [i for i in range(3) if not agree(i, i)]
    return what_it_did(NAMES, outputs, EAGER, wrong, agree, written, again)


@pytest.mark.parametrize(
    ("outputs", "did"),
    [
        ([TWO, ONE, THREE], "returned output 0 (a) and output 1 (b) exchanged"),
        (
            [TWO, THREE, ONE],
            "returned its outputs in another order: output 1 (b) as output 0, output 2 (c) as output 1, "
            "output 0 (a) as output 2",
        ),
        ([None, TWO, THREE], "returned None for output 0 (a), where the graph has a tensor"),
        (
            [ONE, TWO.numpy(), THREE],
            "returned a numpy.ndarray for output 1 (b), where the graph has a tensor",
        ),
        ([ONE, TWO, 3.0], "returned a float for output 2 (c), where the graph has a tensor"),
        ([TWO, TWO, THREE], None),
        ([ONE + 7, TWO, THREE], None),
        ([ONE, TWO, THREE], None),
    ],
)
def test_what_outputs_show(outputs: list[Any], did: str | None) -> None:
    assert said(outputs) == (did and f"the backend {did}")


def test_inputs_that_are_written_and_a_result_that_is_given_again() -> None:
    assert said(EAGER, ("input 0 (x)",)) == ("the backend wrote input 0 (x), which the graph leaves as it is")
    given_again = said([ONE + 7, TWO, THREE], again=True)
    assert given_again == (
        "the backend returned in this call what it gave in the first one, for output 0 (a)"
    )


def test_a_result_of_the_first_call_is_one_only_where_data_has_changed() -> None:
    first = KeptCall([ONE, TWO], [THREE])
    assert is_of_the_first_call(first, {"input 0 (l_x_)": THREE, "input 1 (l_y_)": TWO}, [THREE], [0])
    assert not is_of_the_first_call(first, {"input 0 (l_x_)": ONE, "input 1 (l_y_)": TWO}, [THREE], [0])
    weight = {"input 0 (l_x_)": ONE, "input 1 (l_self_modules_a_parameters_weight_)": THREE}
    assert not is_of_the_first_call(first, weight, [THREE], [0]), "it may have folded the weight"
    assert not is_of_the_first_call(first, {"input 0 (l_x_)": THREE}, [ONE], [0])
    assert not is_of_the_first_call(None, {"input 0 (l_x_)": THREE}, [THREE], [0])


def test_a_large_call_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynamo_core.capture.interventions.backend_faults._MOST_KEPT", 8)
    assert KeptCall([ONE], [TWO]).outputs == []


@pytest.mark.parametrize(
    ("made_of", "is_wrong"),
    [
        (lambda gm: lambda *args: tuple(each + 1 for each in gm(*args)), True),
        (lambda gm: lambda *args: [each.double() for each in gm(*args)], True),
        (lambda gm: lambda x: (*gm(x), x.add_(1))[:1], True),
        (lambda gm: gm.forward, False),
        (lambda gm: None, False),
        (lambda gm: lambda *args: gm(*args)[0], False),
    ],
)
def test_a_backend_that_gets_a_copy_wrong_gets_every_graph_wrong(made_of: Any, is_wrong: bool) -> None:
    given = torch.tensor([1.0, float("nan")])
    assert is_wrong_for_a_copy(lambda gm, inputs: made_of(gm), [None, given]) == is_wrong
    assert given[0] == 1.0
