"""What a captured program must not notice of being compiled. Each function returns its undoing."""

import logging
import warnings
from collections.abc import Callable
from typing import Any

from ..torch_versions import (
    keep_assertions_in_inductor,
    keep_class_checks,
    keep_linear_algebra_checks,
    set_in_every_thread,
    settings_that_miss_changed_parameters,
)

_COMPILER_LOGGERS = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch._subclasses", "torch.fx")
_COMPILER_MODULES = r"torch\.(_dynamo|_inductor|_functorch)"


def draw_random_numbers_as_eager_does() -> Callable[[], None]:
    """Set Inductor's `fallback_random`: the program's results must not depend on our being here."""
    import torch._inductor.config as inductor_config

    return set_in_every_thread(inductor_config, "fallback_random", True)


def silence_compiler_warnings() -> Callable[[], None]:
    """Keep them off the stderr of a program that did not ask to be compiled; the reports have them."""
    loggers = [logging.getLogger(name) for name in _COMPILER_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=_COMPILER_MODULES)
    our_filter = warnings.filters[0]

    def restore() -> None:
        if our_filter in warnings.filters:
            warnings.filters.remove(our_filter)  # type: ignore[attr-defined]
        for logger, level in zip(loggers, levels, strict=True):
            if logger.level == logging.CRITICAL:  # else the program has set it since
                logger.setLevel(level)

    return restore


def let_globals_be_cleared() -> Callable[[], None]:
    """Remove Dynamo's own globals only where they are still there: IPython clears a notebook's as it ends.

    torch would raise KeyError in a weak reference's callback, which Python prints.
    Source: torch/_dynamo/utils.py (CleanupHook), 2.8 to 2.13.
    """
    from torch._dynamo.utils import CleanupHook

    hook_class: Any = CleanupHook
    original = hook_class.__call__

    def remove(hook: CleanupHook, *args: object) -> None:
        if hook.name in hook.scope:
            original(hook, *args)

    def restore() -> None:
        hook_class.__call__ = original

    hook_class.__call__ = remove
    return restore


def compile_as_eager_computes() -> Callable[[], None]:
    """Change torch's settings where they trade eager's semantics for more or faster graphs.

    An assertion stays an AssertionError; numpy is numpy, with its own dtypes and random numbers; hooks that
    are added to a module later are called; a backward may keep what it used (`retain_graph=True`);
    parameters may be frozen and unfrozen. Source: torch/_dynamo/config.py, torch/_functorch/config.py, 2.8 to
    2.15.
    """
    import torch._dynamo.config as dynamo_config
    import torch._functorch.config as functorch_config

    changes = [
        (dynamo_config, "rewrite_assert_with_torch_assert", False),
        (dynamo_config, "trace_numpy", False),
        (dynamo_config, "skip_nnmodule_hook_guards", False),
        (functorch_config, "donated_buffer", False),
        *((dynamo_config, name, False) for name in settings_that_miss_changed_parameters()),
    ]
    undone = [set_in_every_thread(*change) for change in changes if hasattr(*change[:2])]
    drop_checks = keep_linear_algebra_checks(), keep_class_checks()

    def restore() -> None:
        for undo in (*drop_checks, *undone):
            undo()

    return restore


def keep_checks_of_values() -> Callable[[], None]:
    """Leave binary_cross_entropy to its kernel, which raises outside of 0 to 1; Inductor's formula gives NaN.

    Assertions of the graph are made too.
    Source: torch/_inductor/decomposition.py (decompositions, select_decomp_table); read and run in 2.13.
    """
    import torch
    from torch._inductor.decomposition import decompositions

    operator = torch.ops.aten.binary_cross_entropy.default
    formula = decompositions.pop(operator, None)
    drop_assertions = keep_assertions_in_inductor()

    def restore() -> None:
        drop_assertions()
        if formula is not None:
            decompositions[operator] = formula

    return restore


def keep_validating_distributions() -> Callable[[], None]:
    """Call what this returns once Dynamo has been set up, which switches their validation off in the process.

    Source: torch/_dynamo/eval_frame.py (TorchPatcher.patch), 2.8 to 2.15.
    """
    from torch.distributions import Distribution

    validates = Distribution._validate_args

    def restore() -> None:
        Distribution.set_default_validate_args(validates)

    return restore
