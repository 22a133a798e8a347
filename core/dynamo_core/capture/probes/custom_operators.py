"""Where a graph's operators that are not torch's own are registered: a program of the graph needs them.

Source: torch/_library/custom_ops.py (OPDEFS, CustomOpDef) for `torch.library.custom_op`, and
torch/_library/simple_registry.py (singleton, whose `fake_impl` holds a kernel with its source) for
`torch.library.register_fake`. Read in 2.8 to 2.15, run with 2.13.
"""

import sys
from typing import Any


def custom_operators(gm: Any) -> dict[str, dict[str, Any]]:
    """By `namespace::name`, file, line and module of each operator that Python code has registered."""
    found = {}
    for node in gm.graph.nodes:
        name = _qualified_name(node.target) if node.op == "call_function" else None
        if name is not None and name not in found:
            source = _defined(name) or _with_fake(name)
            if source is not None:
                found[name] = source
    return found


def _qualified_name(target: Any) -> str | None:
    """`mylib::scale` of an operator, whatever its overload."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        name: str = target._schema.name
        return name
    return target._qualified_op_name if isinstance(target, torch._ops.OpOverloadPacket) else None


def _defined(name: str) -> dict[str, Any] | None:
    from torch._library.custom_ops import OPDEFS

    code = getattr(getattr(OPDEFS.get(name), "_init_fn", None), "__code__", None)
    return None if code is None else _source(code.co_filename, code.co_firstlineno)


def _with_fake(name: str) -> dict[str, Any] | None:
    """The place of the fake implementation, which stands beside the operator as a rule."""
    from torch._library.simple_registry import singleton

    kernel = getattr(getattr(singleton._data.get(name), "fake_impl", None), "kernel", None)
    if kernel is None:
        return None
    file, _, line = kernel.source.rpartition(":")
    return _source(file, int(line))


def _source(file: str, line: int) -> dict[str, Any]:
    modules = (
        name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None) == file
    )
    return {"file": file, "line": line, "module": next(modules, None)}
