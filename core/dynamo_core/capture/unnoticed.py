"""What a captured program must not notice of being compiled. Each function returns its undoing."""

import logging
import warnings
from collections.abc import Callable

_COMPILER_LOGGERS = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch._subclasses", "torch.fx")
_COMPILER_MODULES = r"torch\.(_dynamo|_inductor|_functorch)"


def draw_random_numbers_as_eager_does() -> Callable[[], None]:
    """Set Inductor's `fallback_random`: the program's results must not depend on our being here."""
    import torch._inductor.config as inductor_config

    before = inductor_config.fallback_random
    inductor_config.fallback_random = True

    def restore() -> None:
        inductor_config.fallback_random = before

    return restore


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
