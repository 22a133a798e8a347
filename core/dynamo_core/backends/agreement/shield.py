"""A run of ours in the middle of the program's: what the program has switched on does not see it.

Source: torch/autograd/graph.py (saved_tensors_hooks), torch/_dynamo/compiled_autograd.py (_disable),
torch/csrc/autograd/python_variable.cpp (_stash_obj_in_tls, which backward threads inherit:
aten/src/ATen/ThreadLocalState.cpp). Read in 2.8 to 2.15.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_KEY = "dynamo_shielded"


@contextmanager
def shielded() -> Iterator[None]:
    """Leave no cast in autocast's cache, call no hook for saved tensors, keep compiled autograd out.

    The grad mode is the program's, and is so again after the run. What runs in here, the backward included,
    finds `is_shielded()`.
    """
    import torch

    was_caching, was_shielded = torch.is_autocast_cache_enabled(), is_shielded()
    torch.set_autocast_cache_enabled(False)
    torch._C._stash_obj_in_tls(_KEY, True)
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(torch.is_grad_enabled()))
            if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
                # The innermost pair is the only one that is called.
                stack.enter_context(torch.autograd.graph.saved_tensors_hooks(_detached, _as_it_is))
            compiled_autograd = sys.modules.get("torch._dynamo.compiled_autograd")
            if compiled_autograd is not None and compiled_autograd.compiled_autograd_enabled:
                stack.enter_context(compiled_autograd._disable())
            yield
    finally:
        torch._C._stash_obj_in_tls(_KEY, was_shielded)
        torch.set_autocast_cache_enabled(was_caching)


def is_shielded() -> bool:
    """Whether this thread, or the one whose backward it runs, is in a run of ours."""
    import torch

    return torch._C._is_key_in_tls(_KEY) and bool(torch._C._get_obj_in_tls(_KEY))


def _detached(tensor: Any) -> Any:
    return tensor.detach()


def _as_it_is(tensor: Any) -> Any:
    return tensor
