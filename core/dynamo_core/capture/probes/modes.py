"""The settings of torch under which a graph is compiled and called, and without which it is another one."""

from typing import Any


def modes_of(gm: Any) -> dict[str, Any]:
    """Those under which the same nodes compute something else, as they are when the graph is called.

    Dynamo restores them for the backend: torch/_dynamo/output_graph.py (compile_and_call_fx_graph,
    restore_global_state), 2.8 to 2.15.
    """
    import torch

    values = [node.meta.get("example_value") for node in gm.graph.nodes]
    devices = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    return {
        "grad_enabled": torch.is_grad_enabled(),
        "autocast": {
            device: str(torch.get_autocast_dtype(device)).removeprefix("torch.")
            for device in sorted(devices)
            if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
        },
        "float32_matmul_precision": _matmul_precision(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
    }


def threads() -> int:
    """How many threads torch's operators on the CPU use."""
    import torch

    count: int = torch.get_num_threads()
    return count


def _matmul_precision() -> str | None:
    import torch

    try:
        precision: str = torch.get_float32_matmul_precision()
    except RuntimeError:  # the program has set it for one backend alone (aten/src/ATen/Context.cpp)
        return None
    return precision
