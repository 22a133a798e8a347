"""The ways to run a graph: an error with made-up inputs is no wrong value."""

from dynamo_core.model import TensorInfo
from dynamo_core.repro.graph_program import GraphProgram, Input
from dynamo_core.repro.variants import variants, variants_of_values

INDICES = Input("b", TensorInfo((4,), (1,), "int64", "cpu"), ".random_(0, 2)")
PROGRAM = GraphProgram((INDICES,), (), ("b",), {})


def test_where_the_program_met_wrong_values_no_error_is_looked_for() -> None:
    every, of_values = [*variants(PROGRAM)], [*variants_of_values(PROGRAM)]
    assert any(each.form == "raises" and each.inputs[0].calls == ".random_(-2, 2)" for each in every)
    assert of_values == [each for each in every if each.form == "values"]
    assert len(of_values) < len(every)
