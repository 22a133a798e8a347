"""What keeps eager's semantics in captured programs: what it reads from a graph, how it answers a call."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.backends.debugging import aot_eager

from dynamo_core.capture.eager_semantics.graph import GraphWithEagerFallback
from dynamo_core.capture.eager_semantics.graph_facts import GraphFacts, facts_of
from dynamo_core.capture.eager_semantics.keeper import clone_reads_of_changed_inputs

WEIGHT = nn.Parameter(torch.full((3,), 2.0))
OTHER = nn.Parameter(torch.full((3,), 3.0))


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    torch._dynamo.reset()
    WEIGHT.grad = OTHER.grad = None
    yield
    torch._dynamo.reset()


def graphs_of(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The graphs that Dynamo makes of a call, as a backend gets them."""
    graphs: list[Any] = []

    def backend(gm: Any, example_inputs: Any) -> Any:
        graphs.append(gm)
        return gm.forward

    torch.compile(function, backend=backend)(*arguments)
    return graphs


def facts(function: Callable[..., Any], *arguments: Any) -> GraphFacts:
    """Those of the only graph. They are read where a backend is called, in the modes of the call."""
    found: list[GraphFacts] = []

    def backend(gm: Any, example_inputs: Any) -> Any:
        found.append(facts_of(gm))
        return gm.forward

    torch.compile(function, backend=backend)(*arguments)
    (only,) = found
    return only


class TestFacts:
    def test_inputs_written_in_place_are_known_running_statistics_among_them(self) -> None:
        norm = nn.BatchNorm1d(3)
        counter = torch.zeros(1)

        def step(x: torch.Tensor) -> torch.Tensor:
            counter.add_(1)
            return norm(x)  # type: ignore[no-any-return]

        found = facts(step, torch.ones(2, 3))
        changed = {found.inputs[i] for i in found.changed}
        assert any("running_mean" in name for name in changed)
        assert any("running_var" in name for name in changed)
        assert any("counter" in name for name in changed)
        assert not any("weight" in name or name == "L['x']" for name in changed)
        assert found.unsupported is None

    def test_running_statistics_are_not_missed_by_a_backward_other_changed_inputs_may_be(self) -> None:
        norm = nn.BatchNorm1d(3)
        center = torch.zeros(3)

        def step(x: torch.Tensor) -> torch.Tensor:
            out = norm(x) - center
            center.add_(1)
            return out  # type: ignore[no-any-return]

        found = facts(step, torch.ones(2, 3))
        overwritten = {found.inputs[i] for i in found.in_place_hazards}
        assert any("center" in name for name in overwritten)
        assert not any("running" in name for name in overwritten)

    def test_an_output_that_another_is_computed_from_is_an_inner_one(self) -> None:
        def step(x: torch.Tensor) -> Any:
            hidden = x * WEIGHT
            return hidden, hidden.sum()

        found = facts(step, torch.ones(3))
        assert found.inner == {0}
        assert found.ancestors == (frozenset({0}), frozenset({0, 1}))

    def test_no_gradient_flows_through_what_is_detached(self) -> None:
        def step(x: torch.Tensor) -> Any:
            hidden = x * WEIGHT
            return hidden, hidden.detach() * OTHER

        found = facts(step, torch.ones(3))
        assert found.inner == frozenset()
        leads_to = dict(zip(found.inputs, found.leads_to, strict=True))
        assert leads_to["G['WEIGHT']"] == {0}
        assert leads_to["G['OTHER']"] == {1}
        assert leads_to["L['x']"] == frozenset()

    def test_an_input_with_gradients_that_is_written_in_place_unfits_a_graph(self) -> None:
        found = facts(lambda x: x.mul_(2) * WEIGHT, torch.ones(3, requires_grad=True) * 1)
        assert found.unsupported == "in_place"

    def test_deterministic_algorithms_unfit_a_graph(self) -> None:
        torch.use_deterministic_algorithms(True)
        try:
            assert facts(lambda x: x + 1, torch.ones(3)).unsupported == "deterministic"
        finally:
            torch.use_deterministic_algorithms(False)

    def test_eagers_nodes_are_named(self) -> None:
        found = facts(lambda x: (F.linear(x, WEIGHT), (x * WEIGHT).exp()), torch.ones(3))
        assert found.node_names[1] == "ExpBackward0"


class NotesInMemory:
    """In place of records."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def add(self, kind: str, answered: str, **detail: Any) -> None:
        self.kinds.append(kind)

    def unused_output(self, answered: str, facts: GraphFacts, unused: Any, inputs: Any) -> None:
        self.kinds.append("unused_output")

    def failed(self, error: BaseException) -> None:
        raise error


class Kept:
    """A function whose graph is compiled by AOTAutograd and kept, and how often each of the two ran."""

    def __init__(self, function: Callable[..., Any], fails: bool = False) -> None:
        self.notes = NotesInMemory()
        self.ran_compiled = self.ran_eager = 0

        def backend(gm: Any, example_inputs: Any) -> Any:
            def eager(*arguments: Any) -> Any:
                self.ran_eager += 1
                return gm.forward(*arguments)

            found = facts_of(gm)
            compiled = aot_eager(gm, example_inputs)

            def counted(*arguments: Any) -> Any:
                self.ran_compiled += 1
                if fails:
                    raise RuntimeError("the kernel failed")
                return compiled(*arguments)

            self.graph = GraphWithEagerFallback(eager, found, self.notes)  # type: ignore[arg-type]
            return self.graph.wrap(counted)

        self.call = torch.compile(function, backend=backend)


def two_heads(x: torch.Tensor) -> Any:
    return x * WEIGHT, (x * OTHER).exp()


class TestAnswers:
    def test_an_unused_output_leaves_none_and_the_graph_stays_compiled(self) -> None:
        kept = Kept(two_heads)
        for _ in range(3):
            WEIGHT.grad = None
            kept.call(torch.ones(3))[0].sum().backward()
            assert OTHER.grad is None
            assert WEIGHT.grad is not None and WEIGHT.grad.tolist() == [1.0, 1.0, 1.0]
        assert kept.notes.kinds == ["unused_output"]
        assert (kept.ran_compiled, kept.ran_eager) == (3, 1)

    def test_what_a_backward_would_read_too_late_is_computed_in_eager_from_the_first_call_on(self) -> None:
        mean = torch.zeros(3)

        def normalise(x: torch.Tensor) -> torch.Tensor:
            y = torch.exp(mean) * WEIGHT * x
            mean.add_(1)
            return y

        kept = Kept(normalise)
        for step in range(2):
            WEIGHT.grad = None
            kept.call(torch.ones(3)).sum().backward()
            assert WEIGHT.grad is not None and WEIGHT.grad.allclose(torch.full((3,), float(step)).exp())
            assert mean.tolist() == [step + 1.0] * 3
        assert kept.notes.kinds == ["overwritten"]
        assert (kept.ran_compiled, kept.ran_eager) == (1, 2)

    def test_each_output_may_have_a_backward_of_its_own(self) -> None:
        kept = Kept(two_heads)
        first, second = kept.call(torch.ones(3))
        first.sum().backward()
        second.sum().backward()
        assert OTHER.grad is not None and OTHER.grad.allclose(torch.exp(OTHER))
        with pytest.raises(RuntimeError, match="second time"):
            second.sum().backward()

    def test_a_later_second_backward_is_answered_and_leaves_the_graph_to_eager(self) -> None:
        kept = Kept(two_heads)
        kept.call(torch.ones(3))[0].sum().backward()  # the pattern is known from here on
        first, second = kept.call(torch.ones(3))
        first.sum().backward()
        second.sum().backward()
        assert OTHER.grad is not None and kept.graph.is_left_to_eager

    def test_a_second_backward_through_changed_inputs_raises(self) -> None:
        kept = Kept(two_heads)
        kept.call(torch.ones(3))[0].sum().backward()
        x = torch.ones(3)
        first, second = kept.call(x)
        first.sum().backward()
        x.add_(1)
        with pytest.raises(RuntimeError, match="second time"):
            second.sum().backward()

    def test_a_second_backward_after_a_step_of_the_optimizer_raises_as_eager_does(self) -> None:
        kept = Kept(two_heads)
        first, second = kept.call(torch.ones(3))
        first.sum().backward()
        with torch.no_grad():
            WEIGHT.add_(0)
        second.sum().backward()  # does not need it
        assert OTHER.grad is not None
        third, fourth = Kept(lambda x: (x * OTHER, (x * WEIGHT).exp() * WEIGHT)).call(torch.ones(3))
        third.sum().backward()
        with torch.no_grad():
            WEIGHT.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            fourth.sum().backward()

    def test_gradients_of_gradients_are_eagers(self) -> None:
        kept = Kept(lambda x: (x * WEIGHT).exp())
        x = torch.ones(3, requires_grad=True)
        (gradient,) = torch.autograd.grad(kept.call(x).sum(), x, create_graph=True)
        gradient.sum().backward()
        expected = WEIGHT * torch.exp(WEIGHT) + torch.exp(WEIGHT)
        assert WEIGHT.grad is not None and WEIGHT.grad.allclose(expected)
        assert kept.notes.kinds == ["double_backward"]

    def test_what_the_compiled_graph_raises_at_is_answered_in_eager(self) -> None:
        kept = Kept(lambda x: x + 1, fails=True)
        assert kept.call(torch.ones(2)).tolist() == [2.0, 2.0]
        assert kept.call(torch.ones(2)).tolist() == [2.0, 2.0]
        assert (kept.ran_compiled, kept.ran_eager) == (1, 2)
        assert kept.notes.kinds == ["exception"]

    def test_inputs_and_random_numbers_are_put_back_before_eager_answers(self) -> None:
        running = torch.zeros(1)

        def step(x: torch.Tensor) -> torch.Tensor:
            running.add_(1)
            return x + torch.rand(2)

        torch.manual_seed(0)
        expected = torch.rand(2)
        torch.manual_seed(0)
        kept = Kept(step)
        found = kept.call(torch.zeros(2))
        assert found.equal(expected)
        assert running.item() == 1

    def test_dropout_is_the_same_in_the_backward_that_eager_answers(self) -> None:
        def step(x: torch.Tensor) -> Any:
            return F.dropout(x * WEIGHT, 0.5), x * OTHER

        torch.manual_seed(3)
        kept = Kept(step)
        dropped, _ = kept.call(torch.ones(3))
        state = torch.get_rng_state()
        dropped.sum().backward()
        assert WEIGHT.grad is not None and WEIGHT.grad.equal(dropped.detach() / 2)
        assert torch.get_rng_state().equal(state)

    def test_a_hook_on_an_inner_output_sees_the_whole_gradient(self) -> None:
        def step(x: torch.Tensor) -> Any:
            hidden = x * WEIGHT
            return hidden, (hidden * OTHER).sum()

        seen: list[list[float]] = []
        kept = Kept(step)
        hidden, loss = kept.call(torch.ones(3))
        hidden.register_hook(lambda gradient: seen.append(gradient.tolist()))
        hidden.retain_grad()
        (loss + hidden.sum()).backward()
        assert seen == [[4.0, 4.0, 4.0]]
        assert hidden.grad.tolist() == [4.0, 4.0, 4.0]

    def test_an_input_that_is_passed_on_is_the_same_object(self) -> None:
        x = torch.ones(3)
        kept = Kept(lambda x: (F.dropout(x, 0.5, training=False), x.contiguous() + 1, x.float()))
        first, second, third = kept.call(x)
        assert first is x and third is x and second is not x
        double = torch.ones(3, dtype=torch.float64)
        assert kept.call(double)[2] is not double

    def test_zero_times_infinity_is_not_added_for_an_unused_output(self) -> None:
        def step(x: torch.Tensor) -> Any:
            return (x * WEIGHT).sum(), (x * 0 * WEIGHT).sqrt().sum()

        kept = Kept(step)
        for _ in range(2):
            WEIGHT.grad = None
            kept.call(torch.ones(3))[0].backward()
            assert WEIGHT.grad is not None and WEIGHT.grad.tolist() == [1.0, 1.0, 1.0]

    def test_autograd_sees_eager_where_the_program_packs_what_is_saved(self) -> None:
        packed: list[Any] = []
        kept = Kept(lambda x: (x * WEIGHT).exp())
        kept.call(torch.ones(3))
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):  # type: ignore[func-returns-value]
            kept.call(torch.ones(3))
        assert kept.ran_eager == 1
        assert len(packed) == 2  # x, since the weight is trained, and the result of exp


@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
def test_what_is_written_in_the_end_is_read_before_the_other_writes(part: slice) -> None:
    graph = torch.fx.Graph()
    first, second = graph.placeholder("first"), graph.placeholder("second")
    first.meta["val"], second.meta["val"] = torch.zeros(3), torch.zeros(len(range(3)[part]))
    read = graph.call_function(torch.ops.aten.slice.Tensor, (first, 0, part.start or 0))
    read.meta["val"] = first.meta["val"][part]
    other = graph.call_function(torch.ops.aten.neg.default, (first,))
    other.meta["val"] = torch.zeros(3)
    graph.call_function(torch.ops.aten.copy_.default, (first, other))
    graph.call_function(torch.ops.aten.copy_.default, (second, read))
    graph.output(())
    clone_reads_of_changed_inputs(graph)
    clone_reads_of_changed_inputs(graph)  # finds nothing more
    assert [node.target for node in graph.nodes].count(torch.ops.aten.clone.default) == 1
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.zeros(len(range(3)[part]))
    torch.fx.GraphModule({}, graph)(x, y)
    assert x.tolist() == [-1.0, -2.0, -3.0]
    assert y.tolist() == [1.0, 2.0, 3.0][part]
