"""Whether what compiled code computed agrees with eager.

No rounding is the right one: a compiler may reorder sums and keep intermediate values in a higher precision.
So the yardstick is the same graph in float64, and the question is whether the candidate is about as close to
it as eager is. Source of the tolerances: torch/testing/_comparison.py (_DTYPE_PRECISIONS), 2.8 to 2.15.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from .reference import clone_with_aliases, overlaps, shares_memory

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
    """The largest finite value; 0.0 if none is finite."""
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


# Inputs that differ from others in their last bits: how far rounding alone can move a graph's results.
#
# Where a graph has a step (the derivative of a ReLU at 0, the index of a largest value), two programs that
# round differently can stand on different sides of it, and neither is wrong. And a long sum depends on its
# order: eager's is in pairs and nearly exact, a compiler's in a row, with an error as of terms that are
# changed by the square root of their number (Higham, Accuracy and Stability of Numerical Algorithms, 4.2),
# which is large beside a result in which the terms cancel.


# How far a value is moved: at most so many times the distance to its dtype's next number, ...
_BITS = 2.0
# ... or, where that is more, this share of the square root of their number, in the precision of sums.
# Compiled loops sum in several lanes and blocks, which keeps them below the whole of it.
_OF_THE_ROOT = 1 / 16
# Added to a seed: a program's own is often small, and the changes would go along with its random values.
_FAR_FROM_OTHERS = 0x5EED_0000


def with_other_last_bits(values: Sequence[Any], seed: int) -> list[Any]:
    """Clones, as `clone_with_aliases` makes them; floating point tensors are changed by rounding errors.

    The same seed gives the same changes; the program's generators are left alone. Zeros stay zeros.
    """
    import torch

    changed = clone_with_aliases(values)
    with torch.no_grad():
        for index, value in enumerate(changed):
            if _can_be_changed(value):
                change(value, seed * len(changed) + index, max(_last_bits(value), _in_a_sum(value)))
    return changed


def with_other_rounding(value: Any, seed: int, share: float = 0.0) -> Any:
    """A copy of what an operation gave, rounded otherwise: by this share of each number or more.

    Numbers of less than 32 bits stay as they are: eager rounds those after each operation, and its own error
    tells what that does.
    """
    if not _can_be_changed(value) or _is_short(value):
        return value
    copied = value.clone()
    change(copied, seed, max(share, _last_bits(value)))
    return copied


def change(value: Any, seed: int, most: float) -> None:
    """Change each number in place, by at most this share of it."""
    import torch

    generator = torch.Generator(value.device).manual_seed(_FAR_FROM_OTHERS + seed)
    noise = torch.rand(value.shape, device=value.device, generator=generator).mul_(2).sub_(1)
    noise = noise.to(torch.promote_types(value.dtype, torch.float32))
    value.copy_(value * (1 + noise * most))


def _last_bits(value: Any) -> float:
    import torch

    return _BITS * float(torch.finfo(value.dtype).eps)


def _is_short(value: Any) -> bool:
    return bool(value.dtype.itemsize < 4)


def _in_a_sum(value: Any) -> float:
    """The largest relative change of its numbers that stands for the error of a sum of them."""
    import torch

    summed_in = torch.promote_types(value.dtype, torch.float32)
    return float(_OF_THE_ROOT * value.numel() ** 0.5 * torch.finfo(summed_in).eps)


def _can_be_changed(value: Any) -> bool:
    import torch

    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.layout is torch.strided
        and value.dtype.itemsize > 1
        and not overlaps(value)
    )


# Eager once more, rounding as compiled code may: the last bits of what each operation gives are others.
#
# Eager calculates much in one operation, and its sums are nearly exact. Compiled code divides one like the
# backward of a normalization into others and sums in a row, in as many lanes as a vector has. The error of a
# sum of 4,096 equal numbers is then a hundred times eager's, and moves all that is calculated from it: over
# the step of a ReLU, say. So operations are divided here as torch does it for compilers, sums are taken in a
# row, and other results are changed by rounding errors (Monte Carlo arithmetic; Parker, 1997), in every
# second group of four runs by as much as torch.testing takes to be equal.
#
# Source: torch/_decomp/__init__.py (decomposition_table), the names of operators in
# aten/src/ATen/native/native_functions.yaml; read with 2.13, names with 2.8 to 2.15.


_LANES = (8, 1)  # where a vector goes along the numbers that are summed, and where it goes across them
_MOST_IN_A_ROW = 4096  # longer loops are divided, by compilers too
_SUMS = ("sum", "mean", "var_mean")
# Operations that have sums inside of them.
_DIVIDED_FORWARD = ("_native_batch_norm_legit", "native_batch_norm", "native_group_norm", "native_layer_norm")
_DIVIDED_BACKWARD = (
    "_log_softmax_backward_data",
    "_softmax_backward_data",
    "native_batch_norm_backward",
    "native_group_norm_backward",
    "native_layer_norm_backward",
)
# They take or move values as they are: what is equal stays equal.
_TAKE_OR_MOVE = (
    "_to_copy abs amax amin aminmax cat ceil clamp clamp_max clamp_min clone constant_pad_nd copy "
    "embedding flip floor floor_divide gather index index_select masked_fill masked_select max "
    "max_pool2d_with_indices maximum median min minimum mode neg pad relu repeat roll round scatter "
    "select_backward select_scatter sgn sign slice_backward slice_scatter sort stack take "
    "threshold_backward topk tril triu trunc unfold where"
)
_EXACT = frozenset(_TAKE_OR_MOVE.split())

_Given = TypeVar("_Given")


def rounded_otherwise(run: Callable[[list[Any]], _Given], values: Sequence[Any], seed: int) -> _Given:
    """What `run` gives for inputs that differ in their last bits, with operations that round otherwise.

    The backward is part of it where `run` calls it. Where operations cannot be watched (some of those that
    have a graph as an argument), the inputs alone differ.
    """
    try:
        with _mode()(seed):
            return run(with_other_last_bits(values, seed))
    except Exception:
        return run(with_other_last_bits(values, seed))


def rounding_mode(seed: int) -> Any:
    """A mode in which operations round otherwise; its `short_dtypes` names those of less than 32 bits."""
    return _mode()(seed)


def change_last_bits(value: Any, seed: int) -> None:
    """Change a tensor in place by rounding errors, if it can be changed."""
    if _can_be_changed(value):
        change(value, seed, max(_last_bits(value), _in_a_sum(value)))


@cache
def _mode() -> Any:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class RoundsOtherwise(TorchDispatchMode):
        def __init__(self, seed: int) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self._lanes = _LANES[seed & 1]
            self._divided = (*_DIVIDED_BACKWARD, *(_DIVIDED_FORWARD if seed & 2 else ()))
            self._is_wide = bool(seed & 4)
            # The next run's operations are far from this one's; a CPU's generator takes the lower 32 bits.
            self._seed = seed << 24
            self.short_dtypes: set[str] = set()  # of less than 32 bits, that results had

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if not _calculates(func, args):
                result = func(*args, **kwargs)
                if isinstance(result, torch.Tensor) and result.is_floating_point() and _is_short(result):
                    self.short_dtypes.add(str(result.dtype).removeprefix("torch."))
                return result
            name = func.overloadpacket.__name__
            divided = torch._decomp.decomposition_table.get(func) if name in self._divided else None
            if divided is not None:
                with self:
                    return divided(*args, **kwargs)
            result = func(*args, **kwargs)
            if shares_memory(result, args):
                return result
            if name in _SUMS:
                result = _in_a_row(name, args, kwargs, result, self._lanes)
            if isinstance(result, tuple | list):
                return type(result)(map(self._rounded, result))
            return self._rounded(result)

        def _rounded(self, value: Any) -> Any:
            """A copy: an operator of the program's own may give what the program keeps."""
            self._seed += 1
            if type(value) is not torch.Tensor or not value.is_floating_point():
                return value
            if _is_short(value):
                self.short_dtypes.add(str(value.dtype).removeprefix("torch."))
            return with_other_rounding(value, self._seed, _tolerance(value.dtype) if self._is_wide else 0.0)

    return RoundsOtherwise


def _tolerance(dtype: Any) -> float:
    """How far apart numbers may be that torch.testing takes to be equal."""
    from torch.testing._comparison import default_tolerances

    return float(default_tolerances(dtype)[0])


def _calculates(func: Any, args: Sequence[Any]) -> bool:
    """Whether an operator makes new floating point numbers of others."""
    import torch

    if not isinstance(func, torch._ops.OpOverload) or func.overloadpacket.__name__ in _EXACT:
        return False
    if any(given.alias_info is not None for given in func._schema.returns):
        return False  # a view of an argument, or the argument itself
    given = [part for each in args for part in (each if isinstance(each, tuple | list) else [each])]
    return any(isinstance(each, torch.Tensor) and each.is_floating_point() for each in given)


def _in_a_row(name: str, args: Any, kwargs: Any, result: Any, lanes: int) -> Any:
    """A sum, a mean, or a variance and a mean, of the same numbers added in a row; else `result` as it is."""
    import torch

    values, first = args[0], result[0] if name == "var_mean" else result
    if type(first) is not torch.Tensor or not first.is_floating_point() or not values.is_floating_point():
        return result
    over = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) and args[1] else range(values.dim())
    summed = sorted({dim % values.dim() for dim in over}) if values.dim() else []
    kept = [dim for dim in range(values.dim()) if dim not in summed]
    wide = torch.promote_types(kwargs.get("dtype") or values.dtype, torch.float32)
    columns = values.to(wide).permute(*summed, *kept).reshape(-1, max(first.numel(), 1))
    count = columns.shape[0]
    if not first.numel() or count <= lanes:
        return result
    total = _added_in_a_row(columns, lanes)
    if name == "sum":
        return total.reshape(first.shape).to(first.dtype)
    mean = total / count
    if name == "mean":
        return mean.reshape(first.shape).to(first.dtype)
    # Whatever the variance was divided by: in a row, the sum of squares is so much larger or smaller.
    squares = (columns - mean) ** 2
    ratio = _added_in_a_row(squares, lanes) / squares.sum(0)
    variance = first * torch.where(ratio.isfinite(), ratio, 1.0).reshape(first.shape)
    return variance.to(first.dtype), mean.reshape(first.shape).to(first.dtype)


def _added_in_a_row(columns: Any, lanes: int) -> Any:
    """The sum of each column: every lane adds its numbers one by one."""
    lanes = max(lanes, -(-columns.shape[0] // _MOST_IN_A_ROW))
    rows = columns.shape[0] // lanes
    in_lanes = columns[:lanes].clone()
    for row in columns[lanes : lanes * rows].view(rows - 1, lanes, columns.shape[1]):
        in_lanes += row
    return in_lanes.sum(0) + columns[lanes * rows :].sum(0)
