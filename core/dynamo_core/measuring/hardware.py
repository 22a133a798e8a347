"""What a measurement was taken on: two that say the same can be compared."""

import platform
from collections.abc import Iterable
from typing import Any


def hardware() -> dict[str, str]:
    """The name of the CPU, and of the first device of each other kind that torch can use here."""
    import torch

    found = {"cpu": _cpu_model()}
    if torch.cuda.is_available():
        found["cuda"] = torch.cuda.get_device_name(0)
    return found


def device_of(values: Iterable[Any]) -> str:
    """What computes a graph that has these inputs, as measurements of it are filed."""
    import torch

    kinds = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    return device_words(kinds, hardware(), torch.get_num_threads())


def device_words(kinds: Iterable[str], names: dict[str, str], threads: int | None) -> str:
    """`NVIDIA H100` for a graph on a GPU, `AMD EPYC, 2 threads` for one on the CPU alone."""
    others = sorted(set(kinds) - {"cpu"})
    if others:
        return " and ".join(names.get(kind, kind) for kind in others)
    return f"{names['cpu']}, {threads} thread{'' if threads == 1 else 's'}"


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "CPU"
