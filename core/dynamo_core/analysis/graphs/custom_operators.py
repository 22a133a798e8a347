"""A graph's operators that are not torch's: a program of the graph alone says what to import for them."""

import re
from collections.abc import Mapping

from ...model import OperatorSource

# The namespaces that torch registers itself, read from 2.13 (torch._C._dispatch_get_all_op_names) and from
# the sources of torch/ in 2.8 to 2.15.
_TORCHS = re.compile(
    "_c10d_functional|_c10d_functional_autograd|_dtensor|_native|_quantized|aten|c10d|c10d_functional|"
    "debug_mode_ops|debugprims|export|flex_lib|fsdp|higher_order|inductor|inductor_prims|mkl|mkldnn|"
    "mkldnn_prepacked|onednn|onnx|onnx_symbolic|prim|prims|profiler|quantization|quantized|"
    "quantized_decomposed|rngprims|sparse|static_runtime|streams|symm_mem"
)
_OPERATOR = re.compile(r"\btorch\.ops\.([^\W\d]\w*)\.([^\W\d]\w*)", re.ASCII)
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*", re.ASCII)
_CHECK = """\
if not hasattr(torch.ops.{namespace}, {name!r}):
    raise SystemExit({message!r})
"""


def checks_of_operators(code: str, registered: Mapping[str, OperatorSource]) -> str:
    """Code that ends the program, saying what to import, where an operator that `code` calls is missing."""
    found = sorted({match.groups() for match in _OPERATOR.finditer(code) if not _TORCHS.fullmatch(match[1])})
    checks = (
        _CHECK.format(
            namespace=namespace,
            name=name,
            message=_what_to_do(f"torch.ops.{namespace}.{name}", registered.get(f"{namespace}::{name}")),
        )
        for namespace, name in found
    )
    return "".join(checks)


def _what_to_do(operator: str, source: OperatorSource | None) -> str:
    where = "where it is registered was not recorded" if source is None else f"registered at {source.place}"
    module = None if source is None else source.module
    if module is not None and module != "__main__" and _MODULE.fullmatch(module):
        what = f"put `import {module}` above this check, with its folder on PYTHONPATH"
    else:
        what = "put what registers it above this check"
    return f"{operator} is not an operator of torch's own ({where}): {what}"
