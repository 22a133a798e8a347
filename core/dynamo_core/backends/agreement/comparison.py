"""Whether what compiled code computed agrees with eager.

No rounding is the right one: a compiler may reorder sums and keep intermediate values in a higher precision.
So the yardstick is the same graph in float64, and the question is whether the candidate is about as close to
it as eager is. Source of the tolerances: torch/testing/_comparison.py (_DTYPE_PRECISIONS), 2.8 to 2.15.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# How much further from float64 than eager, at its worst element, a candidate may be.
AS_EXACT_AS_EAGER = 4.0

# How often eager is run again, rounding otherwise, before a candidate is called wrong.
# About every second of them stands on the other side of a step that is near.
SECOND_OPINIONS = 16

# After so many of them it is asked whether they explain what seemed wrong: each takes longer than eager.
OPINIONS_AT_ONCE = 4

# Without a float64 reference eager's own error is unknown; this many times the tolerance is allowed instead.
WITHOUT_REFERENCE = 10.0

# Values smaller than this are compared as if they were this large: what is zero in exact arithmetic is noise.
SMALLEST_SCALE = 1e-2


@dataclass(frozen=True)
class Comparison:
    """One value of the candidate beside eager's.

    `error` is |candidate - reference| and `allowed` what was allowed, both at the element that is furthest
    beyond what is allowed, or nearest to it; None where `detail` says why there is no such figure. `against`
    is "float64" or "eager", what the reference was; `size` its largest finite |value|.
    """

    name: str
    agrees: bool
    error: float | None
    allowed: float | None
    against: str
    detail: str | None = None
    size: float | None = None


def compare(
    names: Sequence[str],
    candidate: Sequence[Any],
    eager: Sequence[Any],
    reference: Sequence[Any] | None,
    again: Callable[[int], Sequence[Any]] | None = None,
) -> list[Comparison]:
    """Compare tensors, numbers or None, one by one. `reference` is eager's in float64, where there is one.

    The candidate agrees at an element if

        |candidate - reference| <= rtol |reference| + atol scale + k max|eager - reference|

    with torch.testing's rtol and atol of eager's dtype, `scale` the size of the values (`_scale`), and k
    AS_EXACT_AS_EAGER: in half precision eager's own error is what counts. Integers and booleans must be equal
    wherever eager's equal the reference. NaN and infinity must be where eager has them, unless the candidate
    agrees with the reference there.

    `again(seed)` runs eager once more, `rounded_otherwise`. It is asked SECOND_OPINIONS times where a
    candidate seems wrong. The errors of those runs that are within what is allowed stand for eager's, where
    they are larger. Where one of them is beyond what is allowed at some elements, as behind a step, the
    candidate may be so at k times as many, and by k times as much; so one element on the other side of a step
    does not excuse all. Integers that those runs do not agree on are not asked of the candidate.

    torch's own check (torch/_dynamo/utils.py, same) asks for `allclose` with eager at 1e-4 to 1e-2, or
    else for a root mean square error of at most 2 to 10 times eager's; ours looks at the worst element, so
    that an error in one of a million is not averaged away, and has no tolerance that is chosen by model.
    """
    references = [None] * len(names) if reference is None else reference
    values = list(zip(names, candidate, eager, references, strict=True))
    comparisons = [_compare(*each) for each in values]
    runs: list[dict[int, Any]] = []
    while again is not None and len(runs) < SECOND_OPINIONS:
        wrong = [i for i, comparison in enumerate(comparisons) if not comparison.agrees]
        if not wrong:
            break
        wanted, may_go_on = len(runs) + OPINIONS_AT_ONCE, True
        try:
            while len(runs) < wanted:
                run = again(len(runs) + 1)
                runs.append({i: run[i] for i in wrong})
        except Exception:  # eager fails on other inputs
            may_go_on = False
        for i in wrong:
            comparisons[i] = _compare(*values[i], [each[i] for each in runs if each[i] is not None])
        if not may_go_on:
            break
    return comparisons


def _compare(name: str, candidate: Any, eager: Any, reference: Any, others: Sequence[Any] = ()) -> Comparison:
    import torch

    with torch.no_grad():
        difference = _difference_in_kind(candidate, eager)
        if difference is not None:
            return Comparison(name, False, None, None, "eager", difference)
        if eager is None:
            return Comparison(name, True, None, None, "eager")
        candidate, eager = _plain(candidate), _plain(eager)
        others = [each for each in map(_plain, others) if each.shape == eager.shape]
        exact = None if reference is None else _plain(reference).to(eager.device)
        if exact is not None and exact.shape != eager.shape:
            exact = None  # a shape that depends on the values
        if eager.dtype.is_floating_point or eager.dtype.is_complex:
            return _compare_floats(name, candidate, eager, exact, others)
        return _compare_integers(name, candidate, eager, exact, others)


def _compare_integers(name: str, candidate: Any, eager: Any, exact: Any, others: list[Any]) -> Comparison:
    import torch

    wrong = candidate != eager
    for other in [*others, *([] if exact is None else [exact])]:
        wrong &= eager == other
    against = "eager" if exact is None else "float64"
    error = torch.where(wrong, candidate.double() - eager.double(), 0.0).abs()
    largest = error.max().item() if error.numel() else 0.0
    size = _largest(eager.double().abs())
    return Comparison(name, largest == 0, largest, 0.0, against, size=size)


def _compare_floats(name: str, candidate: Any, eager: Any, exact: Any, others: list[Any]) -> Comparison:
    import torch
    from torch.testing._comparison import default_tolerances

    rtol, atol = default_tolerances(eager.dtype)
    is_short = eager.dtype.itemsize < 4  # rounded after each operation in eager too: its error tells all
    wide = torch.complex128 if eager.dtype.is_complex else torch.float64
    candidate, eager = candidate.to(wide), eager.to(wide)
    others = [other.to(wide) for other in others]
    if exact is None:
        against, reference = "eager", eager
        rtol, atol = rtol * WITHOUT_REFERENCE, atol * WITHOUT_REFERENCE
    else:
        against, reference = "float64", torch.where(exact.isfinite(), exact.to(wide), eager)
    size = _largest(reference.abs())
    eagers_error = AS_EXACT_AS_EAGER * _largest((eager - reference).abs())
    allowed = rtol * reference.abs() + (atol * _scale(reference.abs(), size) + eagers_error)
    error = (candidate - reference).abs()
    further = [(other - reference).abs() for other in others]
    jumps = max((int((each > allowed).sum()) for each in further), default=0)
    rounding = max((_largest(torch.where(each > allowed, 0.0, each)) for each in further), default=0.0)
    if not is_short:  # another measure of eager's own error, not one more error
        allowed = allowed + max(0.0, AS_EXACT_AS_EAGER * rounding - eagers_error)
    if int((error > allowed).sum()) <= AS_EXACT_AS_EAGER * jumps:
        allowed = allowed + AS_EXACT_AS_EAGER * max(map(_largest, further), default=0.0)
    comparable = error.isfinite()
    odd = ~comparable
    for each in (eager, *others):
        odd &= ~_is_same_nonfinite(candidate, each)
    odd = odd.flatten()
    if odd.any():
        first = int(odd.nonzero()[0])
        detail = f"{candidate.flatten()[first].item()} where eager has {eager.flatten()[first].item()}"
        return Comparison(name, False, None, None, against, detail)
    if not comparable.any():
        return Comparison(
            name, True, None, None, against, "nothing in it is finite" if error.numel() else None
        )
    excess = torch.where(comparable, error / allowed, -1.0).flatten()
    worst = int(excess.argmax())
    return Comparison(
        name,
        excess[worst].item() <= 1,
        error.flatten()[worst].item(),
        allowed.flatten()[worst].item(),
        against,
        size=size,
    )


def _scale(values: Any, largest: float) -> float:
    """What counts as the size of a tensor's values: the largest, up to 1; beyond that, the median of them.

    So neither small values are waved through, nor those beside a few huge ones (the mask of an attention).
    """
    finite = values[values.isfinite()]
    typical = float(finite.median()) if largest > 1 else 0.0
    return max(min(max(largest, SMALLEST_SCALE), 1.0), typical)


def _largest(values: Any) -> float:
    """Of those that are finite; 0.0 if none is."""
    finite = values[values.isfinite()]
    return float(finite.max()) if finite.numel() else 0.0


def _is_same_nonfinite(candidate: Any, eager: Any) -> Any:
    return (candidate.isnan() & eager.isnan()) | (candidate == eager)


def _difference_in_kind(candidate: Any, eager: Any) -> str | None:
    """What makes a comparison of values pointless: another type, dtype, shape or device."""
    import torch

    if not (isinstance(candidate, torch.Tensor) and isinstance(eager, torch.Tensor)):
        if isinstance(candidate, torch.Tensor) or isinstance(eager, torch.Tensor):
            return f"a {type(candidate).__name__} where eager has a {type(eager).__name__}"
        if (candidate is None) != (eager is None):
            return f"{candidate} where eager has {eager}"
        return None
    for what in ("dtype", "shape", "device"):
        own, eagers = getattr(candidate, what), getattr(eager, what)
        if own != eagers:
            return f"{what} {_brief(own)} where eager has {_brief(eagers)}"
    return None


def _brief(value: Any) -> str:
    """`[2, 3]` for a torch.Size, `float32` for torch.float32."""
    return str(list(value)) if isinstance(value, tuple) else str(value).removeprefix("torch.")


def _plain(value: Any) -> Any:
    """A strided tensor without gradient, of any value that can be compared."""
    import torch

    if not isinstance(value, torch.Tensor):
        return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
    value = value.detach()
    if value.is_quantized:
        value = value.dequantize()
    return value if value.layout is torch.strided else value.to_dense()
