"""Sizes that were equal when a version was compiled: what varies along with one, and what never varies."""

from pathlib import Path

import pytest

from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import (
    CompileId,
    GuardCheck,
    GuardSet,
    Place,
    Process,
    RecompileReasons,
    StackFrame,
    Symbol,
)
from dynamo_core.recording.guards import parse_guard_failure
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made import compiled, with_fields

LINE = StackFrame(Place("/home/me/model.py", 7), "f", "y = x * mask")
TENSOR = (
    "check_tensor({}, Tensor, DispatchKeySet(CPU), torch.float32, device=None, requires_grad=False, "
    "size=[{}], stride=[1, 1])"
)


def check(source: str, sizes: str) -> GuardCheck:
    return GuardCheck("TENSOR_MATCH", source, TENSOR.format(source, sizes), LINE.text, LINE.place, "f")


def made_dynamic(source: str, compile_: int, name: str = "s77") -> Symbol:
    return Symbol(CompileId(0, compile_), name, "5", source, LINE.place, (LINE,))


def cause(first: tuple[GuardCheck, ...], *symbols: Symbol) -> RecompileCause:
    """`x`, compiled for 8 rows and then for 5."""
    entries = [GuardSet(CompileId(0, 0), checks=first), GuardSet(CompileId(0, 1), checks=())]
    reason = parse_guard_failure("0/0: tensor 'x' size mismatch at index 0. expected 8, actual 5")
    known = {
        "compiles": [compiled(0), *(compiled(number, reason="a reason") for number in (1, 2))],
        "recompile_reasons": [RecompileReasons(CompileId(0, 1), (reason,))],
        "symbols": list(symbols),
        "torch_version": "2.13.0",
    }
    process = with_fields(Process(Path("s.log"), recompiled_entries=entries), known)
    (frame,) = frames_recompiled([process])
    return next(each for each in causes_of(frame) if each.kind == "size")


def first_advice(of: RecompileCause) -> str:
    return recompile_advice(of)[0].text


def test_what_was_equal_and_varies_is_named_along_with_it() -> None:
    """In another version only: the mask that some calls lack is not in the one that was compiled next."""
    rows, mask = (made_dynamic(f"L['{name}'].size()[0]", at) for name, at in (("x", 1), ("mask", 2)))
    both = cause((check("L['x']", "8, 4"), check("L['mask']", "8, 1")), rows, mask)
    assert both.dynamic_sources == [("L['x']", 0), ("L['mask']", 0)]
    apart = cause((check("L['x']", "8, 4"), check("L['mask']", "6, 1")), rows, mask)
    assert apart.dynamic_sources == [("L['x']", 0)]


@pytest.mark.parametrize(("sizes", "is_by_argument"), [("8, 4", True), ("8, 8", False)])
def test_dynamic_true_is_not_enough_where_a_size_that_never_varies_was_equal(
    sizes: str, is_by_argument: bool
) -> None:
    symbols = made_dynamic("L['x'].size()[0]", 1), made_dynamic("L['scale']", 1, "zf9")
    advice = first_advice(cause((check("L['x']", sizes),), *symbols))
    assert ("`dynamic=True`" in advice) is is_by_argument
    assert ("L['x']:0\"" in advice) is not is_by_argument  # a float has no name there
