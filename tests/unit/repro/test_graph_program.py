"""A captured graph as a program, and how it is made smaller."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.model import Graph, Node, Symbol, TensorInfo
from dynamo_core.repro import graph_shrinking
from dynamo_core.repro.failure import Failure
from dynamo_core.repro.graph_program import GraphProgram, Input, captured_program
from dynamo_core.repro.graph_shrinking import GraphShrinker
from dynamo_core.repro.trials import BudgetSpent, Candidate
from dynamo_core.shared.errors import NothingSelected
from support.fake_trials import FakeTrials

WRONG = Failure("wrong result", "AssertionError", "Tensor-likes are not close")
CODE = """
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[3, 4][4, 1]cpu"):
        l_x_ = L_x_
        # File: /home/me/secret.py:6 in fill, code: y = x + 1
        y: "f32[3, 4][4, 1]cpu" = l_x_ + 1;  l_x_ = None
        parts = torch.split(y, 2)
        first: "f32[2, 4][4, 1]cpu" = parts[0]
        second: "f32[1, 4][4, 1]cpu" = parts[1];  parts = None
        wrong: "f32[2, 4][4, 1]cpu" = torch.sin(first)
        total: "f32[]cpu" = wrong.sum(dim = None);  wrong = None
        return (total, second)
"""


def tensor(*shape: int | str) -> TensorInfo:
    strides: list[int | str] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size if isinstance(size, int) else 1
    return TensorInfo(shape, tuple(strides), "float32", "cpu")


def value(name: str, *shape: int | str) -> Node:
    return Node("call_function", name, "torch.sin", "()", "{}", (), (tensor(*shape),))


def recorded(code: str = CODE, *further: Node, **fields: Any) -> Graph:
    nodes = (
        Node("placeholder", "l_x_", "L_x_", "()", "{}", (), (tensor(3, 4),)),
        *(
            value("y", 3, 4),
            value("first", 2, 4),
            value("second", 1, 4),
            value("wrong", 2, 4),
            value("total"),
        ),
        *further,
    )
    return Graph(1, None, 0, None, "inductor", 5, nodes, code, **fields)


def shrunk(program: GraphProgram, fails: Callable[[str], bool]) -> GraphProgram:
    trials: Any = FakeTrials(fails)
    kept: list[Candidate] = []
    shrinker = GraphShrinker(program, WRONG, trials, kept.append)
    shrinker.shrink()
    shrinker.rename()
    assert kept[-1] == shrinker.program.candidate()
    return shrinker.program


def test_statements_and_inputs() -> None:
    program = captured_program(recorded(), ())
    assert [each.text for each in program.statements] == [
        *("y = l_x_ + 1", "parts = torch.split(y, 2)", "first = parts[0]", "second = parts[1]"),
        *("wrong = torch.sin(first)", "total = wrong.sum(dim=None)"),
    ]
    assert [each.name for each in program.inputs] == ["l_x_"]
    assert program.outputs == ("total", "second")
    assert "secret" not in program.text()
    compile(program.text(), "repro.py", "exec")
    compile(program.candidate().plain, "repro.py", "exec")


def test_what_is_read_becomes_an_input() -> None:
    program = captured_program(recorded(), ())
    part = program.only(program.statements[4:])
    assert part is not None
    assert [(each.name, each.tensor) for each in part.inputs] == [("first", tensor(2, 4))]
    assert part.outputs == ("total",)


def test_what_cannot_be_an_input_goes_with_its_readers() -> None:
    program = captured_program(recorded(), ())
    part = program.only([program.statements[2], program.statements[4]])  # `parts` is no tensor
    assert part is not None
    assert [each.text for each in part.statements] == ["wrong = torch.sin(first)"]


def test_nothing_is_left_of_no_statements() -> None:
    assert captured_program(recorded(), ()).only([]) is None


def test_beginning_gives_what_the_rest_reads() -> None:
    part = captured_program(recorded(), ()).until(4)
    assert part is not None
    assert part.outputs == ("first", "second")


def test_shrunk_to_the_wrong_operation() -> None:
    program = shrunk(captured_program(recorded(), ()), lambda text: "torch.sin(" in text)
    assert [each.text for each in program.statements] == ["b = torch.sin(a)"]
    assert [each.tensor and each.tensor.shape for each in program.inputs] == [(1, 1)]
    assert "secret" not in program.text()
    assert "l_x_" not in program.text()


def test_large_graph_takes_few_trials() -> None:
    names = [f"v{number}" for number in range(500)]
    lines = [f"{name} = torch.cos({before})" for before, name in zip(["l_x_", *names], names, strict=False)]
    lines[333] = "v333 = torch.erf(v332)"
    body = "\n".join(f"        {line}" for line in lines)
    code = f"class GraphModule(torch.nn.Module):\n    def forward(self, L_x_):\n        l_x_ = L_x_\n{body}\n"
    code += "        return (v499,)\n"
    program = captured_program(recorded(code, *(value(name, 3, 4) for name in names)), ())
    trials: Any = FakeTrials(lambda text: "torch.erf(" in text)
    shrinker = GraphShrinker(program, WRONG, trials, lambda program: None)
    shrinker.shrink()
    shrinker.rename()
    assert [each.text for each in shrinker.program.statements] == ["b = torch.erf(a)"]
    assert trials.tried < 60


def test_symbolic_sizes_have_the_values_of_the_compile() -> None:
    code = CODE.replace("3, 4", "s77, 4")
    nodes = (
        Node("placeholder", "s77", "s77", "()", "{}", symbol="s77"),
        Node("placeholder", "l_x_", "L_x_", "()", "{}", (), (tensor("s77", 4),)),
        value("y", "2*s77", 4),
    )
    graph = Graph(1, None, 0, None, "inductor", 1, nodes, code.replace("L_x_:", "s77: 'Sym(s77)', L_x_:"))
    program = captured_program(graph, (Symbol(None, "s77", "6", "L['x'].size()[0]", None),))
    assert program.dynamic
    assert program.values["y"].shape == (12, 4)
    assert "torch.randn(6, 4)" in program.text()


def test_strides_are_kept() -> None:
    nodes = (
        Node(
            *("placeholder", "l_x_", "L_x_", "()", "{}", ()),
            (TensorInfo((3, 4), (1, 3), "float32", "cpu", requires_grad=True),),
        ),
        value("y", 3, 4),
    )
    graph = Graph(1, None, 0, None, "inductor", 1, nodes, CODE, trains=True)
    text = captured_program(graph, ()).text()
    assert "torch.randn(12).as_strided((3, 4), (1, 3)).requires_grad_()" in text
    assert ".backward()" in text


def test_strides_of_a_smaller_size_have_the_order_of_dimensions_and_what_is_expanded_stays_so() -> None:
    def strides(shape: tuple[int, ...], stride: tuple[int, ...], smaller: tuple[int, ...]) -> object:
        return graph_shrinking._strides(TensorInfo(shape, stride, "float32", "cpu"), smaller)

    assert strides((3, 4), (1, 3), (2, 4)) == (1, 2)
    assert strides((3, 4, 5), (20, 5, 1), (3, 2, 5)) == (10, 5, 1)
    assert strides((3, 4), (0, 1), (2, 4)) == (0, 1)
    assert strides((3, 4), (4, 1), (3, 0)) == (1, 1)


def test_module_that_is_not_recorded() -> None:
    with pytest.raises(NothingSelected, match="uses what only its program has: layer"):
        captured_program(recorded(CODE.replace("torch.sin(", "self.layer(")), ())


def test_graph_without_code() -> None:
    with pytest.raises(NothingSelected, match="its code was not recorded"):
        captured_program(Graph(1, None, 0, None, "inductor", 1), ())


def test_transforms_are_left_to_the_script() -> None:
    level = "torch._functorch.predispatch._jvp_increment_nesting()"
    code = CODE.replace("parts = torch", f"level = {level}\n        parts = torch")
    with pytest.raises(NothingSelected, match="has transforms"):
        captured_program(recorded(code), ())


class Ending(FakeTrials):
    """Ends by the budget after the first success."""

    is_spent = False

    def first(self, candidates: Sequence[Candidate | None], wanted: Failure) -> int | None:
        """The first candidate that fails; the first with fewer operations is the last."""
        if self.is_spent:
            raise BudgetSpent
        found = super().first(candidates, wanted)
        chosen = None if found is None else candidates[found]
        self.is_spent = chosen is not None and chosen.size != "6 operations, 1 input"
        return found


def test_what_was_found_before_the_budget_was_spent_is_kept() -> None:
    program = captured_program(recorded(), ())
    trials: Any = Ending(lambda text: "torch.sin" in text)
    kept: list[Candidate] = []
    with pytest.raises(BudgetSpent):
        GraphShrinker(program, WRONG, trials, kept.append).shrink()
    assert program.size == "6 operations, 1 input"
    assert kept[-1].size != program.size


def test_the_default_backend_is_not_named_and_another_one_is() -> None:
    program = captured_program(recorded(), ())
    assert "torch.compile(f)" in program.text()
    assert "torch.compile(f, dynamic=True)" in replace(program, dynamic=True).text()
    assert 'torch.compile(f, backend="aot_eager")' in replace(program, backend='"aot_eager"').text()


def test_random_numbers_are_changed_by_what_fits_their_type() -> None:
    program = captured_program(recorded(), ())
    kinds = ("bool", "int64", "float16")
    inputs = [Input(kind, replace(tensor(2), dtype=kind), ".old()") for kind in kinds]
    inputs.append(Input("n", None, number="3"))
    changed = replace(program, inputs=tuple(inputs)).with_values(".int()", ".float()")
    assert [each.calls for each in changed.inputs] == [".old()", ".int()", ".float()", ""]
    same = replace(program, inputs=tuple(inputs)).with_values("", "")
    assert same.inputs == tuple(inputs)


def test_functions_that_are_not_torchs_are_imported_where_they_are_called() -> None:
    code = CODE.replace("torch.sin(first)", "first * math_sqrt(2)")
    nodes = [
        Node("call_function", "sqrt", "math.sqrt", "(2,)", "{}"),
        Node("call_function", "floor", "math.floor", "(2,)", "{}"),  # the code has no such call
    ]
    text = captured_program(recorded(code, *nodes), ()).text()
    assert text.count("import math; math_sqrt = math.sqrt\n") == 1
