"""How much of a profiled window ran inside compiled graphs."""

from collections.abc import Iterable

from ...model import EagerOperator, ProfileWindow, WindowKernel


def coverage(window: ProfileWindow) -> dict[str, float | None]:
    """The shares, from 0 to 1, of what ran inside compiled graphs; None where there was nothing to share."""
    inside = sum(part.seconds for part in window.parts)
    calls = sum(part.operator_calls for part in window.parts)
    kernels = window.kernels or ()
    in_parts = _sum_seconds(kernel for kernel in kernels if kernel.part is not None)
    return {
        "time": _share(inside, inside + _sum_seconds(window.eager)),
        "operators": _share(calls, calls + _calls(window.eager)),
        "kernel_time": _share(in_parts, _sum_seconds(kernels)),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _sum_seconds(items: Iterable[EagerOperator | WindowKernel]) -> float:
    return sum(item.seconds for item in items)


def _calls(operators: Iterable[EagerOperator]) -> int:
    return sum(operator.calls for operator in operators)
