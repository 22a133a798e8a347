"""How a call runs in a copy of the process: for this rank alone, with memory filled, by its own compilers."""

import os
import sys
from contextlib import suppress
from typing import Any

from .fork_server import refuse_to_reach_out

_FILLING = 77  # what memory is hardly found with, and each dtype of numbers has


def keep_to_this_rank(roots: dict[str, Any], *, is_backward: bool) -> None:
    """Let DistributedDataParallel wait for no other rank: it agrees on no buckets, and adds no gradients up.

    Source: torch/nn/parallel/distributed.py (_pre_forward, whose second call rebuilds buckets), read in 2.13.
    """
    torch = sys.modules["torch"]
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.Reducer._rebuild_buckets = lambda _: False
    for root in roots.values() if is_backward else ():
        for module in root.modules() if isinstance(root, torch.nn.Module) else ():
            if isinstance(module, torch.nn.parallel.DistributedDataParallel):
                module.require_backward_grad_sync = False


def filling_mode() -> Any:
    """A mode in which `torch.empty` and its like give memory with something in it."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class FillsMemory(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = func.overloadpacket.__name__
            if name.startswith(("empty", "new_empty")) and isinstance(result, torch.Tensor):
                with suppress(RuntimeError):  # a dtype or layout that cannot be filled
                    result.fill_(_FILLING)
            return result

    return FillsMemory()  # type: ignore[no-untyped-call]


def let_compile() -> None:
    """Let this process compile by itself: the processes that compile for the program are not its own."""
    import tempfile

    from torch._inductor import config
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    config.compile_threads = 1
    refuse_to_reach_out((cache_dir(), tempfile.gettempdir(), f"{os.sep}dev{os.sep}shm"))
