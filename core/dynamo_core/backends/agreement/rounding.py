"""Eager once more, rounding as compiled code may: the last bits of what each operation gives are others.

Eager calculates much in one operation, and its sums are nearly exact. Compiled code divides one like the
backward of a normalization into others and sums in a row, in as many lanes as a vector has. The error of a
sum of 4,096 equal numbers is then a hundred times eager's, and moves all that is calculated from it: over the
step of a ReLU, say. So operations are divided here as torch does it for compilers, sums are taken in a row,
and other results are changed by rounding errors (Monte Carlo arithmetic; Parker, 1997), in every second group
of four runs by as much as torch.testing takes to be equal.

Source: torch/_decomp/__init__.py (decomposition_table), the names of operators in
aten/src/ATen/native/native_functions.yaml; read with 2.13, names with 2.8 to 2.15.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from .perturbation import with_other_last_bits, with_other_rounding

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


@cache
def _mode() -> Any:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class RoundsOtherwise(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self, seed: int) -> None:
            super().__init__()
            self._lanes = _LANES[seed & 1]
            self._divided = (*_DIVIDED_BACKWARD, *(_DIVIDED_FORWARD if seed & 2 else ()))
            self._is_wide = bool(seed & 4)
            self._seed = seed << 32  # the next one's operations are far from this one's

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if not _calculates(func, args):
                return func(*args, **kwargs)
            name = func.overloadpacket.__name__
            divided = torch._decomp.decomposition_table.get(func) if name in self._divided else None
            if divided is not None:
                with self:
                    return divided(*args, **kwargs)
            result = func(*args, **kwargs)
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
