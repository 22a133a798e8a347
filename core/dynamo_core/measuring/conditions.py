"""What a measurement holds for, beside its graph: two that say the same can be compared."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

# Those that this tool sets itself, where it measures or in a program that it captures.
_OUR_SETTINGS = {"donated_buffer", "fallback_random", "post_grad_custom_post_pass"}


class Conditions(NamedTuple):
    """The device and its threads in words, torch's version, how its compilers are set, and the sizes.

    `sizes` has the class of each size that is symbolic in the graph, in the order of its inputs.
    """

    device: str
    torch: str
    settings: str
    sizes: tuple[str, ...] = ()

    def difference(self, other: "Conditions") -> str:
        """In what the other differs, in words that follow `has this graph for`."""
        if self.device != other.device:
            return f"{other.device}, and this is {self.device}"
        if self.torch != other.torch:
            return f"torch {other.torch}, and this is {self.torch}"
        if self.settings != other.settings:
            return "other settings of torch._inductor.config, _functorch.config or deterministic algorithms"
        return f"sizes {sizes_words(other.sizes)}, and this has {sizes_words(self.sizes)}"


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


def device_words(kinds: Iterable[str], names: Mapping[str, str], threads: int | None) -> str:
    """`NVIDIA H100` for a graph on a GPU, `AMD EPYC, 2 threads` for one on the CPU alone."""
    others = sorted(set(kinds) - {"cpu"})
    if others:
        return " and ".join(names.get(kind, kind) for kind in others)
    return f"{names['cpu']}, {threads} thread{'' if threads == 1 else 's'}"


def size_class(size: int) -> str:
    """Sizes that differ by less than a factor of two are of one class: `64 to 127`."""
    if size < 2:
        return str(size)
    first = 1 << (size.bit_length() - 1)
    return f"{first} to {2 * first - 1}"


def sizes_words(sizes: Sequence[str]) -> str:
    """The classes of a graph's symbolic sizes, in words."""
    return ", ".join(sizes) if sizes else "that are fixed"


def symbolic_sizes(inputs: Sequence[Any]) -> tuple[str, ...]:
    """The class of each symbolic size of a compile's inputs, in their order; unbacked ones have none."""
    import torch

    found: dict[str, str] = {}
    for value in inputs:
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol and size.node.has_hint():
                found.setdefault(str(size.node.expr), size_class(int(size.node.hint)))
    return tuple(found.values())


def cpu_model() -> str:
    """The name of this machine's processor, as the kernel or else Python has it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "CPU"
