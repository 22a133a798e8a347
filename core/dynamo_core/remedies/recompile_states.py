"""Remedies for recompiles after a state of the whole process changed: gradient mode, autocast, defaults."""

from collections.abc import Callable, Sequence

from ..analysis.recompile_causes import RecompileCause
from .recompile_parts import is_kind, one_remedy
from .rules import Change, Rule


def _is_state(words: str) -> Callable[[RecompileCause], bool]:
    """A test whether torch names this setting of the process as the one that was switched."""
    return lambda cause: (
        cause.kind == "global state" and any(words in failure.check for failure in cause.failures)
    )


OF_STATES: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # inference mode of the call
        lambda cause: cause.is_of_inference_mode,
        "some calls were inside of `torch.inference_mode` and others were not: make all of them, those that "
        "warm up as well, in the same mode.",
        cures=("recompile_warm_up_in_inference_mode",),
        not_for=("recompile_inference_mode", "recompile_grad_mode"),
    ),
    one_remedy(  # grad mode
        _is_state("grad_mode"),
        "gradients were recorded in some calls only: call it under `torch.no_grad()` in every call, if you "
        "do not train with it.",
        cures=("recompile_grad_mode",),
    ),
    one_remedy(  # dtype of autocast
        lambda cause: _is_state("autocast")(cause) and _is_state("_dtype")(cause),
        "`torch.autocast` had another dtype in some calls: give it one for all of them.",
        cures=("recompile_autocast_dtype",),
    ),
    one_remedy(  # autocast
        _is_state("autocast"),
        "autocast was on in some calls only: make every call inside the same `torch.autocast`, or every "
        "call outside.",
        cures=("recompile_autocast",),
    ),
    one_remedy(  # default dtype
        _is_state("default_dtype"),
        "the default dtype was changed between calls: set it once, before the first call.",
        lambda cause: Change(edit="set at the start"),
        "what was made before it is made with it as well",
        cures=("recompile_default_dtype",),
    ),
    one_remedy(  # default device
        lambda cause: _is_state("torch_function_mode")(cause) or _is_state("CURRENT_DEVICE")(cause),
        "a default device (`torch.set_default_device`, `with torch.device(…)`) or another torch function "
        "mode was switched between calls: set it once, before the first call.",
        lambda cause: Change(edit="set at the start"),
        "what was made before it is made with it as well",
        cures=("recompile_default_device",),
    ),
    one_remedy(  # setting of the process
        is_kind("global state"),
        "a setting of the whole process was changed between calls (torch: {check}): set it once, before "
        "the first call.",
        cures=("recompile_number_of_threads",),
    ),
    one_remedy(  # inference mode
        is_kind("dispatch keys"),
        "{source} was made in another mode in some calls (`torch.inference_mode`, functorch): make all of "
        "its inputs inside of it, or none.",
        cures=("recompile_inference_mode",),
    ),
)
