"""What counts as agreement with eager, and the clones and references that it is measured on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from dynamo_core.backends.agreement import (
    Comparison,
    RandomState,
    clone_with_aliases,
    compare,
    draws_random_numbers,
    float64_reference,
    rounded_otherwise,
    shielded,
    with_other_last_bits,
)
from dynamo_core.backends.agreement.compare import SECOND_OPINIONS, _added_in_a_row

NAN, INFINITY = float("nan"), float("inf")


def only(candidate: Any, eager: Any, reference: Any = None, again: Any = None) -> Comparison:
    found = compare(["value"], [candidate], [eager], None if reference is None else [reference], again)
    return found[0]


def graph(function: Callable[..., Any]) -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(function)


def noisy(value: torch.Tensor, error: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return value + error * torch.randn(value.shape, generator=generator, dtype=value.dtype)


class TestFloats:
    exact = torch.linspace(-2, 2, 1000, dtype=torch.float64)

    @pytest.mark.parametrize(
        ("dtype", "error"), [(torch.float32, 1e-7), (torch.float16, 4e-4), (torch.bfloat16, 4e-3)]
    )
    def test_about_as_exact_as_eager(self, dtype: torch.dtype, error: float) -> None:
        eager, candidate = self.exact.to(dtype), noisy(self.exact, error).to(dtype)
        found = only(candidate, eager, self.exact)
        assert found.agrees
        assert found.against == "float64"
        assert found.error is not None and found.allowed is not None
        assert 0 < found.error < found.allowed

    def test_one_element_in_a_thousand_off_by_a_thousandth(self) -> None:
        eager = self.exact.float()
        candidate = eager.clone()
        candidate[700] += 1e-3
        found = only(candidate, eager, self.exact)
        assert not found.agrees
        assert found.error == pytest.approx(1e-3, rel=1e-3)
        assert found.allowed == pytest.approx(1.1e-5, rel=0.2)

    def test_small_values_are_not_waved_through(self) -> None:
        eager = (self.exact * 1e-4).float()
        assert not only(eager * 1.01, eager, self.exact * 1e-4).agrees

    def test_half_precision_is_measured_by_eagers_own_error(self) -> None:
        eager = noisy(self.exact, 0.05).to(torch.bfloat16)  # as a deep graph would have it
        assert only(noisy(self.exact, 0.06).to(torch.bfloat16), eager, self.exact).agrees
        assert not only(noisy(self.exact, 0.9).to(torch.bfloat16), eager, self.exact).agrees

    def test_without_a_reference(self) -> None:
        eager = self.exact.float()
        assert only(eager + 5e-5, eager) == only(eager + 5e-5, eager, None)
        assert only(eager + 5e-5, eager).agrees
        assert only(eager + 5e-5, eager).against == "eager"
        assert not only(eager + 1e-3, eager).agrees

    def test_what_is_not_finite(self) -> None:
        eager = torch.tensor([1.0, NAN, INFINITY, -INFINITY])
        assert only(eager.clone(), eager, eager.double()).agrees
        for other in ([NAN, NAN, INFINITY, -INFINITY], [1.0, NAN, -INFINITY, -INFINITY]):
            found = only(torch.tensor(other), eager, eager.double())
            assert not found.agrees
            assert found.detail is not None and " where eager has " in found.detail

    def test_finite_where_eager_overflowed(self) -> None:
        eager, exact = torch.tensor([INFINITY]).half(), torch.tensor([65000.0], dtype=torch.float64)
        assert only(torch.tensor([65000.0]).half(), eager, exact).agrees
        assert not only(torch.tensor([60000.0]).half(), eager, exact).agrees

    @pytest.mark.parametrize("empty", [torch.zeros(0), torch.zeros(2, 0)])
    def test_nothing_in_it(self, empty: torch.Tensor) -> None:
        assert only(empty, empty.clone(), empty.double()).agrees


class TestIntegers:
    def test_exact_where_eager_is(self) -> None:
        eager, reference = torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4])
        assert only(torch.tensor([1, 2, 9]), eager, reference).agrees  # eager is not sure of it either
        assert not only(torch.tensor([1, 3, 3]), eager, reference).agrees
        assert not only(torch.tensor([1, 2, 9]), eager).agrees

    def test_booleans(self) -> None:
        assert only(torch.tensor([True]), torch.tensor([True])).agrees
        assert not only(torch.tensor([True]), torch.tensor([False])).agrees

    def test_numbers_and_none(self) -> None:
        assert only(3, 3).agrees and only(None, None).agrees and only(0.5, 0.5).agrees
        assert not only(3, 4).agrees
        assert only(None, 3).detail == "None where eager has 3"


@pytest.mark.parametrize(
    ("candidate", "detail"),
    [
        (torch.zeros(2), "shape [2] where eager has [3]"),
        (torch.zeros(3).double(), "dtype float64 where eager has float32"),
        (0.0, "a float where eager has a Tensor"),
    ],
)
def test_another_kind_of_value(candidate: Any, detail: str) -> None:
    found = only(candidate, torch.zeros(3), torch.zeros(3).double())
    assert (found.agrees, found.error, found.detail) == (False, None, detail)


def test_large_values_are_judged_by_their_size() -> None:
    exact = torch.tensor([2910.0], dtype=torch.float64)
    found = only((exact + 5e-3).float(), exact.float(), exact)  # 2e-6 of it: another order of a sum
    assert found.agrees
    assert found.size == 2910.0
    assert not only((exact + 2.91).float(), exact.float(), exact).agrees


def test_huge_values_do_not_excuse_others() -> None:
    exact = torch.ones(9, dtype=torch.float64)
    exact[0] = torch.finfo(torch.float32).min  # as in the mask of an attention
    candidate = exact.float()
    candidate[5] += 1e-3
    assert not only(candidate, exact.float(), exact).agrees


def test_a_long_sum_in_another_order() -> None:
    """Of a million terms that cancel; in a row, in eight lanes, as compiled loops sum."""
    x = torch.randn(1 << 20, generator=torch.Generator().manual_seed(1))
    exact, eager = x.double().sum(), x.sum()
    in_lanes = x.view(-1, 8).cumsum(0)[-1].sum()

    def again(seed: int) -> list[Any]:
        return [with_other_last_bits([x], seed)[0].sum()]

    assert only(in_lanes, eager, exact, again).agrees
    assert not only(eager * (1 + 1e-3), eager, exact, again).agrees


def added_in_a_row(values: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(values.shape[1:])
    for each in values:
        total += each
    return total


def test_a_sum_in_a_row() -> None:
    """Of equal numbers: its roundings all go one way. Compiled loops sum so; eager's sum is nearly exact."""
    x = torch.full((4096, 2), 0.1)
    candidate, eager, exact = added_in_a_row(x), x.sum(0), x.double().sum(0)

    def again(seed: int) -> list[torch.Tensor]:
        return rounded_otherwise(lambda values: [values[0].sum(0)], [x], seed)

    assert (candidate - eager).abs().max() > 1e-5 * eager.abs().max()
    assert not only(candidate, eager, exact).agrees
    assert only(candidate, eager, exact, again).agrees
    assert not only(eager * (1 + 2e-3), eager, exact, again).agrees


def in_a_row(x: torch.Tensor, run: Callable[[torch.Tensor], Any], seed: int = 1) -> Any:
    """What `run` gives with sums in a row, in one lane where the seed is odd."""
    return rounded_otherwise(lambda values: run(values[0]), [x], seed)


@pytest.mark.parametrize("count", [9, 15, 16, 17])
def test_any_count_of_numbers_can_be_added_in_lanes(count: int) -> None:
    numbers = torch.arange(float(count)).reshape(-1, 1)
    assert _added_in_a_row(numbers, 8).tolist() == [count * (count - 1) / 2]


def test_a_sum_into_integers_adds_what_is_left_of_each_number() -> None:
    x = torch.full((4096,), 0.75)
    assert in_a_row(x, lambda x: x.sum(dtype=torch.int64)).item() == 0


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x.sum((0, -1)),
        lambda x: x.mean(1),
        lambda x: x.sum(2, keepdim=True),
        lambda x: torch.var_mean(x, (0, 2))[0],
        lambda x: torch.var_mean(x, 0, correction=0)[1],
        lambda x: x.sum(),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_sums_in_a_row_are_of_the_same_numbers(run: Callable[..., torch.Tensor], seed: int) -> None:
    x = torch.randn(40, 48, 56, generator=torch.Generator().manual_seed(1))
    found, eager = in_a_row(x, run, seed), run(x)
    assert found.shape == eager.shape and found.dtype == eager.dtype
    assert torch.allclose(found, eager, rtol=1e-3, atol=1e-4)


def test_what_is_calculated_of_exact_numbers_is_rounded_too_and_no_integers_are() -> None:
    zeros = torch.zeros(512)
    ones, where = in_a_row(zeros, lambda x: (x.cos(), x.isnan().to(torch.int64)))
    assert 0 < (ones - 1).abs().max() < 1e-5
    assert where.tolist() == [0] * 512


def test_few_sums_of_very_many_numbers_are_divided_and_many_sums_of_few_are_not() -> None:
    """A compiler does not add more than 4,096 numbers in a row."""
    long = torch.full((1 << 16, 1), 0.1)
    far, divided = (
        abs(each.item() / 6553.6 - 1) for each in (added_in_a_row(long), in_a_row(long, lambda x: x.sum(0)))
    )
    assert divided < far / 4
    wide = torch.full((64, 1 << 16), 0.1)
    error = (in_a_row(wide, lambda x: x.sum(0)).double() / wide.double().sum(0) - 1).abs()
    assert error.median() > 1e-7, "of 64 numbers in one lane"


def test_eager_is_run_again_only_until_that_explains_it() -> None:
    x = torch.full((4096, 2), 0.1)
    asked: list[int] = []

    def again(seed: int) -> list[torch.Tensor]:
        asked.append(seed)
        return rounded_otherwise(lambda values: [values[0].sum(0)], [x], seed)

    eager, exact = x.sum(0), x.double().sum(0)
    assert only(eager, eager, exact, again).agrees
    assert asked == []
    assert only(added_in_a_row(x), eager, exact, again).agrees
    assert asked == [1, 2, 3, 4]
    assert not only(eager * 1.01, eager, exact, again).agrees
    assert len(asked) == 4 + SECOND_OPINIONS


def test_gradients_behind_a_normalization_that_is_summed_in_a_row() -> None:
    x = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(3))
    bias = torch.rand(3, generator=torch.Generator().manual_seed(4))

    def gradients(values: list[Any]) -> list[Any]:
        x, bias = (value.detach().requires_grad_() for value in values)
        normal = torch.nn.functional.batch_norm(x * 3, None, None, bias * 0 + 1, bias, training=True)
        normal.mean((2, 3)).sin().sum().backward()
        return [x.grad, bias.grad]

    eager, exact = gradients([x, bias]), gradients([x.double(), bias.double()])
    seeds = (1, 3)  # in one lane
    errors = [
        [
            (a - b).abs().max().item()
            for a, b in zip(rounded_otherwise(gradients, [x, bias], seed), exact, strict=True)
        ]
        for seed in seeds
    ]
    own = [(a - b).abs().max().item() for a, b in zip(eager, exact, strict=True)]
    assert all(max(each) < 1e-3 for each in errors)  # still the same gradients
    assert all(error[1] > 10 * own[1] for error in errors)


def test_what_rounds_nothing_stays_equal_and_generators_stay_as_they_are() -> None:
    x = torch.rand(64, generator=torch.Generator().manual_seed(5))
    before = torch.get_rng_state()

    def moved(values: list[Any]) -> list[Any]:
        (x,) = values
        y = torch.cat([x, x]).relu().clone()
        return [y[:64] == y[64:], torch.arange(4.0).floor(), x.view(8, 8).T.reshape(-1) * 2]

    equal, counted, doubled = rounded_otherwise(moved, [x], 1)
    assert equal.all() and counted.tolist() == [0, 1, 2, 3]
    assert 0 < (doubled - x.view(8, 8).T.reshape(-1) * 2).abs().max() < 1e-5
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("wrong", [F.gelu, lambda x: F.relu(x) * 1.2, lambda x: F.relu(x + 0.1)])
def test_what_is_wrong_is_wrong_in_any_precision(wrong: Callable[..., Any], dtype: torch.dtype) -> None:
    x, w = (torch.randn(64, 64, generator=torch.Generator().manual_seed(n)).to(dtype) for n in (1, 2))

    def layers(activation: Callable[..., Any], values: list[Any]) -> list[Any]:
        x, w = values
        return [activation(x @ w / 8) @ w / 8]

    def again(seed: int) -> list[Any]:
        return rounded_otherwise(partial(layers, F.relu), [x, w], seed)

    (eager,), (exact,) = layers(F.relu, [x, w]), layers(F.relu, [x.double(), w.double()])
    (candidate,) = layers(wrong, [x, w])
    assert not only(candidate, eager, exact, again).agrees


def test_what_an_operator_keeps_is_not_written_into() -> None:
    kept = torch.ones(8)

    def give(x: torch.Tensor) -> torch.Tensor:
        return kept

    table = torch.library.custom_op("agreement_test::table", give, mutates_args=())
    rounded_otherwise(lambda values: table(values[0]) * 2, [torch.ones(8)], 1)
    assert torch.equal(kept, torch.ones(8))


def test_each_run_rounds_otherwise_than_the_others() -> None:
    first, other = (in_a_row(torch.zeros(512), torch.cos, seed) for seed in (1, 9))  # alike but for it
    assert not torch.equal(first, other)


def test_opinions_up_to_a_failure_count() -> None:
    x = torch.full((4096, 2), 0.1)

    def again(seed: int) -> list[torch.Tensor]:
        if seed == 3:
            raise RuntimeError("not with these inputs")
        return rounded_otherwise(lambda values: [values[0].sum(0)], [x], seed)

    assert only(added_in_a_row(x), x.sum(0), x.double().sum(0), again).agrees


def test_where_operations_cannot_be_watched_the_inputs_alone_differ() -> None:
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    def unwatched(values: list[Any]) -> torch.Tensor:
        if _get_current_dispatch_mode() is not None:
            raise NotImplementedError("an operation that no mode may watch")
        return values[0] * 2  # type: ignore[no-any-return]

    x = torch.ones(4)
    assert 0 < (rounded_otherwise(unwatched, [x], 1) - 2).abs().max() < 1e-5


def test_second_opinion_on_a_step() -> None:
    """On which side of a step a value lies that is as good as on it, is not for a candidate to know."""
    x = torch.tensor([1e-9, 1.0]) + torch.tensor([1.0, 0.0])

    def above(x: torch.Tensor) -> torch.Tensor:
        return (x > 1.0).float() * 5

    candidate, eager = torch.tensor([5.0, 0.0]), above(x)
    assert eager.tolist() == [0.0, 0.0]

    def again(seed: int) -> list[torch.Tensor]:
        return [above(with_other_last_bits([x], seed)[0])]

    assert not only(candidate, eager, eager.double()).agrees
    assert only(candidate, eager, eager.double(), again).agrees
    assert not only(torch.tensor([0.0, 1e-3]) + 30, eager, eager.double(), again).agrees
    assert only(
        torch.tensor([1, 0]), torch.tensor([0, 0]), None, lambda seed: [torch.tensor([seed % 2, 0])]
    ).agrees

    def fails(seed: int) -> list[torch.Tensor]:
        raise RuntimeError("not with these inputs")

    assert not only(candidate, eager, eager.double(), fails).agrees


class TestFloat64:
    def test_dtypes_in_the_graph(self) -> None:
        def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            half = x.half().float() + x.to(torch.bfloat16)
            return (
                half.type(torch.float32),
                torch.zeros(2) @ x,
                torch.softmax(x, 0, dtype=torch.float32),
                x.argmax(),
            )

        x = torch.tensor([1 / 3, 2 / 3])
        found = float64_reference(graph(function), [x])
        assert found is not None
        assert [value.dtype for value in found] == [torch.float64] * 3 + [torch.int64]
        assert found[0].tolist() == (x.double() * 2).tolist()
        assert x.dtype is torch.float32

    def test_aliases_and_inputs_changed_in_place(self) -> None:
        base = torch.zeros(4)
        found = float64_reference(graph(lambda x, y: (x.add_(1).sum(), y.sum())), [base, base[:2]])
        assert found is not None
        assert [value.item() for value in found] == [4, 2]
        assert base.sum() == 0

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: torch.rand_like(x),
            lambda x: x.view(torch.int32),
            lambda x: x.to(torch.float8_e5m2),
            lambda x: x @ x @ torch.zeros(3),
        ],
    )
    def test_not_possible(self, function: Callable[..., Any]) -> None:
        before = torch.get_rng_state()
        assert float64_reference(graph(function), [torch.ones(2)]) is None
        assert torch.get_rng_state().equal(before)

    def test_integers_only(self) -> None:
        assert float64_reference(graph(lambda x: x + 1), [torch.arange(3)]) is None

    def test_complex_numbers_only(self) -> None:
        found = float64_reference(graph(lambda x: x / 3), [torch.ones(2, dtype=torch.complex64)])
        assert found is not None and found[0].dtype == torch.complex128


class TestClones:
    def test_shared_storage_strides_and_offsets(self) -> None:
        base = torch.arange(12.0)
        views: list[Any] = [base, base[2:8].view(2, 3).t(), base[3:], 7]
        clones = clone_with_aliases(views)
        assert clones[3] == 7
        for view, clone in zip(views[:3], clones[:3], strict=True):
            assert (clone.stride(), clone.storage_offset()) == (view.stride(), view.storage_offset())
            assert clone.equal(view)
        clones[0].fill_(5)
        assert (clones[1] == 5).all() and (clones[2] == 5).all()
        assert base.equal(torch.arange(12.0))

    def test_gradients_and_leaves(self) -> None:
        leaf = torch.ones(3, requires_grad=True)
        result = leaf * 2
        own_leaf, own_result, own_plain = clone_with_aliases([leaf, result, torch.ones(3)])
        assert (own_leaf.is_leaf, own_result.is_leaf) == (True, False)
        assert (own_leaf.requires_grad, own_result.requires_grad, own_plain.requires_grad) == (
            True,
            True,
            False,
        )
        own_result.add_(1).sum().backward()  # a leaf could not be changed in place
        assert leaf.grad is None

    @pytest.mark.parametrize(
        "tensor",
        [
            torch.ones(2, 1).expand(2, 3).requires_grad_(),
            torch.zeros(0),
            torch.ones(2, 2).to_sparse(),
            torch.tensor([1 + 2j, 3 - 1j]).conj(),
            torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
        ],
    )
    def test_odd_tensors(self, tensor: torch.Tensor) -> None:
        (clone,) = clone_with_aliases([tensor])
        assert clone.to_dense().equal(tensor.to_dense())
        assert clone.requires_grad == tensor.requires_grad


@pytest.mark.parametrize(
    ("function", "draws"),
    [
        (lambda x: F.dropout(x), True),
        (lambda x: F.dropout(x, 0.0), False),
        (lambda x: F.dropout(x, training=False), False),
        (lambda x: torch.bernoulli(x), True),
        (lambda x: x.normal_(), True),
        (lambda x: F.scaled_dot_product_attention(x, x, x), False),
        (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.1), True),
        (lambda x: torch.ops.aten.rand_like.default(x), True),
        (lambda x: x.sin(), False),
    ],
)
def test_draws_random_numbers(function: Callable[..., Any], draws: bool) -> None:
    assert draws_random_numbers(graph(function)) is draws


def test_random_state() -> None:
    state = RandomState([torch.ones(1)])
    drawn = torch.rand(3)
    assert state.has_changed() and not state.equals(RandomState([]))
    state.restore()
    assert not state.has_changed() and torch.rand(3).equal(drawn)


def test_shielded() -> None:
    packed: list[Any] = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda value: packed.append(value) or value,  # type: ignore[func-returns-value]
        lambda value: value,
    ):
        with torch.autocast("cpu"), shielded():
            torch.set_grad_enabled(False)
            torch.set_grad_enabled(True)
            (x.exp() @ x).backward()
            assert not torch.is_autocast_cache_enabled()
        assert not packed
        assert torch.is_autocast_cache_enabled() and torch.is_grad_enabled()
        x.exp()
    assert packed
