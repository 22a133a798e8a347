"""Why a frame was recompiled, in a sentence for somebody who knows PyTorch but not Dynamo."""

from ..shared.failed_guard import describe_change, guarded, source_words, without_stack_names
from .guard_failures import what_differed
from .recompile_causes import RecompileCause

_MOST_SHOWN = 3
_MOST_OTHERS = 3
_DETACH = (
    ". Where both calls belong to one step of training, one version serves both if the other call is made "
    "with gradients as well, and what it gives takes `.detach()`: it then keeps what a backward would need"
)
_STATES = {
    "grad_mode": "gradients were recorded in one call and not in another (`torch.no_grad`)",
    "default_dtype": "the default dtype was changed between calls",
    "_dtype": "`torch.autocast` had another dtype in another call",
    "autocast": "`torch.autocast` was on in one call and off in another",
    "torch_function_mode": "the default device or another torch function mode was switched between calls",
    "CURRENT_DEVICE": "the default device was changed between calls",
    "num_threads": "the number of threads was changed between calls",
    "deterministic": "the choice of deterministic algorithms was changed between calls",
}


def cause_sentence(cause: RecompileCause) -> str:
    """What differed between the calls, with the values, and whether anything is to be fixed at all."""
    sentence = _sentence(cause)
    if also := also_changed_words(cause):
        sentence += f"; {also}"
    if cause.functions_with_this_code is not None:
        sentence += (
            "; functions that are compiled apart have this code, as a decorator or a base class gives it"
        )
        if cause.needs_both_versions:
            sentence += ", each needs a version, and there is nothing to cure"
    elif cause.is_of_gradients_in_training:
        sentence += (
            "; in training that is so of what a layer computed before and not of the data, each needs a "
            "version, and there is nothing to cure"
        )
    elif cause.needs_both_versions:
        sentence += (
            "; a program that trains and evaluates needs a version for each, and there is nothing to cure"
        )
        sentence += _DETACH if cause.is_of_grad_mode else ""
    elif cause.kind == "size" and cause.dynamic is False:
        sentence += "; with `dynamic=False` each size is a version of its own"
    return without_stack_names(sentence)


def also_changed_words(cause: RecompileCause) -> str:
    """The other values that had changed by then, which torch does not name as the reason; "" without any.

    What has no name in the program has the same words as others without one: it is not told twice.
    """
    known = dict.fromkeys(map(source_words, cause.also_changed))
    others = [words for words in known if words != source_words(cause.source or "")]
    if not others:
        return ""
    more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
    shown = ", ".join(others[:_MOST_OTHERS])
    when = "then" if len(cause.compiles) == 1 else "one of these recompiles"
    return f"{shown}{more} had changed by {when} too, which alone would have been enough"


def _sentence(cause: RecompileCause) -> str:
    failure = cause.failure
    if failure is None:
        return "torch does not say which guard failed"
    if cause.kind == "backend":
        return "torch.compile was called again, and what an earlier call of it had compiled is not used"
    if cause.kind == "made meanwhile":
        return "a version that fits had come by then, as where two threads call it at once"
    if cause.is_of_inference_mode:
        return "one call was inside of `torch.inference_mode`, and another was not"
    if cause.kind == "requires_grad":
        return f"`{cause.source}` requires a gradient in some calls and not in others"
    if cause.kind == "global state":
        words = next((words for name, words in _STATES.items() if name in failure.check), None)
        return (
            f"{words or 'a setting of the whole process was changed between calls'} (torch: {failure.check})"
        )
    if cause.kind == "relation of sizes" or (cause.kind == "value" and not cause.values):
        return f"`{without_stack_names(failure.check)}` held when it was compiled, and then did not"
    values = ", ".join(cause.values[1 : 1 + _MOST_SHOWN])
    more = ", …" if len(cause.values) > 1 + _MOST_SHOWN else ""
    if cause.kind in ("size", "value", "length", "dtype", "rank", "stride") and values:
        return describe_change(_guarded(cause), cause.values[0], f"{values}{more}") + _needed_by(cause)
    if cause.kind == "size" and cause.was_0_or_1:
        came = ", ".join(cause.values_that_came[:_MOST_SHOWN])
        sizes = f"; it was compiled for {came}" if came else ""
        return f"{_guarded(cause)} was 0 or 1, which torch compiles apart from all other sizes{sizes}"
    source = source_words(cause.source or "")
    if cause.kind == "identity":
        return f"{source} is another object than the one that it was compiled for{_needed_by(cause)}"
    if cause.kind == "freed object":
        return f"{source} was freed, and what was compiled for it with it"
    known = f" ({', '.join(cause.values)})" if cause.values and cause.kind != "other" else ""
    return f"{what_differed(failure)} is not what it was compiled for{known}{_needed_by(cause)}"


def _guarded(cause: RecompileCause) -> str:
    return guarded(cause.kind, cause.source, cause.index)


def _needed_by(cause: RecompileCause) -> str:
    """A clause on the line that needs the number, so that torch cannot make it dynamic; "" if none does."""
    return f", and `{cause.line}` needs it as a number" if cause.is_needed_as_number and cause.line else ""
