"""What a measurement holds for, beside its graph: two that say the same can be compared."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


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
