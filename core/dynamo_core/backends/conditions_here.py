"""What a measurement in this process holds for: its device, its torch, how torch's compilers are set."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from ..tuned.conditions import Conditions, cpu_model, device_words, size_class

# Those that this tool sets itself, where it measures or in a program that it captures.
_OUR_SETTINGS = {"donated_buffer", "fallback_random", "post_grad_custom_post_pass"}


def conditions_here(inputs: Sequence[Any]) -> Conditions:
    """Of a graph that is being compiled for these inputs."""
    import torch

    kinds = {value.device.type for value in inputs if isinstance(value, torch.Tensor)}
    device = device_words(kinds, hardware(), torch.get_num_threads())
    return Conditions(device, str(torch.__version__), compiler_settings(), symbolic_sizes(inputs))


def hardware() -> dict[str, str]:
    """The name of the CPU, and of the first device of each other kind that torch can use here."""
    import torch

    found = {"cpu": cpu_model()}
    if torch.cuda.is_available():
        found["cuda"] = torch.cuda.get_device_name(0)
    return found


def compiler_settings() -> str:
    """What stands for all settings of torch's compilers, those from the environment included.

    Source: torch/utils/_config_module.py (save_config_portable), read in 2.13; Inductor's cache keys have the
    same values (torch/_inductor/codecache.py, FxGraphHashDetails).
    """
    import torch._functorch.config
    import torch._inductor.config

    values = [f"deterministic={torch.are_deterministic_algorithms_enabled()}"]
    for module in (torch._inductor.config, torch._functorch.config):
        portable = sorted(module.save_config_portable().items())
        values += [f"{name}={value!r}" for name, value in portable if name not in _OUR_SETTINGS]
    return sha256("\n".join(values).encode("utf-8", "backslashreplace")).hexdigest()[:12]


def symbolic_sizes(inputs: Sequence[Any]) -> tuple[str, ...]:
    """The class of each symbolic size of a compile's inputs, in their order; unbacked ones have none."""
    import torch

    found: dict[str, str] = {}
    for value in inputs:
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol and size.node.has_hint():
                found.setdefault(str(size.node.expr), size_class(int(size.node.hint)))
    return tuple(found.values())
