"""Sizes that were equal when a version was compiled: what varies along with one, and what never varies."""

from typing import Any

import pytest

from dynamo_core.analysis.recompile_causes import RecompileCause
from dynamo_core.model import CompileId, GuardSet, Place, Specialization, StackFrame, Symbol
from dynamo_core.recording.guards import parse_check
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import FILE, causes, entry, opened, size

TENSOR = (
    "check_tensor({}, Tensor, DispatchKeySet(CPU), torch.float32, device=None, requires_grad=False, "
    "size=[{}], stride=[1, 1])"
)
LINE = StackFrame(Place(FILE, 4), "f", "y = x * scale")
A_FLOAT = Symbol(CompileId(0, 1), "zf9", "0.5", "L['scale']", LINE.place, (LINE,))


def cause(sizes: dict[str, str], *symbols: Symbol, **fields: Any) -> RecompileCause:
    """`x`, compiled for 8 rows and then for 5, and then for something else; with the sizes of the first."""
    checks = [
        check
        for source, each in sizes.items()
        for check in entry(0, TENSOR.format(source, each), source=source).checks or ()
    ]
    made = {"recompiled_entries": [GuardSet(CompileId(0, 0), checks=tuple(checks))], "symbols": list(symbols)}
    made |= fields
    return next(each for each in causes([size(8, 5)], ["0/1: a reason"], **made) if each.kind == "size")


def test_what_was_equal_and_varies_is_named_along_with_it() -> None:
    """In another version only: the mask that some calls lack is not in the one that was compiled next."""
    symbols = opened(), opened("L['mask'].size()[0]", 2)
    both = cause({"L['x']": "8, 4", "L['mask']": "8, 1"}, *symbols)
    assert both.dynamic_sources == [("L['x']", 0), ("L['mask']", 0)]
    apart = cause({"L['x']": "8, 4", "L['mask']": "6, 1"}, *symbols)
    assert apart.dynamic_sources == [("L['x']", 0)]


def test_a_size_that_a_line_needs_as_a_number_is_not_named_along_with_it() -> None:
    """As of a loop over it: torch refuses a mark on it."""
    columns = "L['x'].size()[1]"
    symbols = opened(), opened(columns, 1)
    assert cause({"L['x']": "8, 4"}, *symbols).dynamic_sources == [("L['x']", 0), ("L['x']", 1)]
    loop = StackFrame(Place(FILE, 5), "f", "for k in range(x.shape[1]):")
    needed = [Specialization(CompileId(0, 1), (columns,), "4", (loop,))]
    of_the_loop = cause({"L['x']": "8, 4"}, *symbols, specializations=needed)
    assert of_the_loop.dynamic_sources == [("L['x']", 0)]


def test_a_size_that_inductor_needs_is_blamed_on_no_line_of_the_program() -> None:
    """The line of the guard is only the first one that uses the size."""
    needed = [
        Specialization(CompileId(0, number), ("L['x'].size()[0]",), str(each), (), "convolution_backward")
        for number, each in enumerate((8, 5))
    ]
    of_inductor = cause({"L['x']": "8, 4"}, specializations=needed)
    (first, *_) = recompile_advice(of_inductor)
    assert "`convolution_backward`" in first.text
    assert "decide by" not in first.text
    assert of_inductor.line == ""


@pytest.mark.parametrize(("sizes", "is_by_argument"), [("8, 4", True), ("8, 8", False)])
def test_dynamic_true_is_not_enough_where_a_size_that_never_varies_was_equal(
    sizes: str, is_by_argument: bool
) -> None:
    advice = recompile_advice(cause({"L['x']": sizes}, opened(), A_FLOAT))[0].text
    assert ("`dynamic=True`" in advice) is is_by_argument
    assert ("L['x']:0\"" in advice) is not is_by_argument  # a float has no name there


@pytest.mark.parametrize(("served", "kind"), [(16, "dispatch keys"), (24, "size")])
def test_an_entry_for_the_same_sizes_in_another_mode_is_the_nearest(served: int, kind: str) -> None:
    """Buckets of 8 and 16 that were warmed up in inference mode; the newest entry is of the other mode."""
    keys = "0/{}: tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual DispatchKeySet()"
    reasons = [size(8, 16)], [keys.format(1), keys.format(0)], [size(32, served, 0, 2), keys.format(1)]
    entries = [
        entry(n, TENSOR.format("", rows)) for n, rows in enumerate(("8, 4", "16, 4", "32, 4", f"{served}, 4"))
    ]
    found = causes(*reasons, recompiled_entries=entries)
    assert (
        next(each.kind for each in found if CompileId(0, 3) in {met.compile_id for met in each.compiles})
        == kind
    )


@pytest.mark.parametrize(("by", "is_needed"), [(1, True), (2, False)])
def test_what_a_version_needs_that_came_for_another_reason_is_not_needed_before(
    by: int, is_needed: bool
) -> None:
    """A version with a mask needs the size as a number; those without it do not."""
    line = StackFrame(Place(FILE, 6), "f", "y = y.masked_fill(~mask, 0.0)")
    needed = [Specialization(CompileId(0, by), ("L['x'].size()[0]",), "5", (line,))]
    found = causes([size(8, 5)], ["0/1: mask is None"], specializations=needed)
    (of_size,) = (each for each in found if each.kind == "size")
    assert of_size.is_needed_as_number is is_needed


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("(_inductor/kernel/conv.py:1091 in convolution_backward_lowering)", "convolution_backward"),
        ("(_functorch/_aot_autograd/autograd_cache.py:1210 in evaluate_guards)", "one of its operations"),
        ("y = x[:8]  # train.py:4 in f", None),
    ],
)
def test_an_expression_over_sizes_may_be_fixed_by_a_function_of_inductors(
    comment: str, found: str | None
) -> None:
    guard = f"(L['x'].size()[0] // 32) == 10  # {comment}"
    guards = [GuardSet(CompileId(0, 0), checks=(parse_check("LAMBDA_GUARD", "", guard),))]
    (cause,) = causes([f"0/0: (x.size()[0] // 32) == 10  # {comment}"], recompiled_entries=guards)
    assert (cause.lowering, cause.is_needed_as_number) == (found, True)
