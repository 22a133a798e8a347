"""Saves arguments of graphs' calls to files, for `dynamo repro --values`: the first, and those that raise."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...shared.names import SAVED_CALLS, SAVED_INPUTS

_MOST_BYTES = 1 << 30  # of a call


def saving_inputs(folder: str, call: Callable[..., Any], graph: int) -> Callable[..., Any]:
    """A graph's compiled function that writes its arguments to `folder` before its first calls.

    A call that raises an Exception leaves its arguments as they are then. Copies of the process write none.
    """
    calls, pid = 0, os.getpid()

    def save(arguments: Sequence[Any], which: int | str) -> None:
        if os.getpid() == pid:
            name = SAVED_INPUTS.format(pid=pid, graph=graph, call=which)
            with suppress(Exception):  # then the graph is tried with random values
                _save(arguments, os.path.join(folder, name))

    def saving(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= SAVED_CALLS:
            save(arguments, calls)
        try:
            return call(*arguments)
        except Exception:
            save(arguments, "raised")
            raise

    return saving


def _save(arguments: Sequence[Any], file: str) -> None:
    """Write what is a number or a plain tensor, with its strides and storage; None for everything else."""
    import torch

    kept = [_kept(each) for each in arguments]
    storages = [each.untyped_storage() for each in kept if isinstance(each, torch.Tensor)]
    if sum({each.data_ptr(): each.nbytes() for each in storages}.values()) <= _MOST_BYTES:
        torch.save(kept, file)


def _kept(value: Any) -> Any:
    import torch

    if isinstance(value, (int, float)):
        return value
    is_plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided
    return value.detach() if is_plain else None
