"""AOTAutograd with the decompositions of a backend of the program's own, and nothing behind it.

Source: torch/_dynamo/backends/common.py (AotAutograd), torch/_dynamo/backends/debugging.py (boxed_nop,
aot_eager_decomp_partition), read and run in 2.13.
"""

from typing import Any

DECOMPOSED = "aot_eager_decomp_partition"  # the backend that goes as far as decompositions


def with_own_decompositions(backend: str, own: Any) -> Any:
    """What takes the place of a backend of this name, where the program's `own` brings decompositions."""
    from torch._dynamo.backends.common import AotAutograd
    from torch._dynamo.backends.debugging import boxed_nop

    if backend != DECOMPOSED or not isinstance(own, AotAutograd) or not own.kwargs.get("decompositions"):
        return None
    compilers = ("fw_compiler", "bw_compiler", "inference_compiler")
    return AotAutograd(**{**own.kwargs, **dict.fromkeys(compilers, boxed_nop)})
