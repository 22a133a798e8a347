"""Bypasses: why torch did not use a cache for a compile, and what to change.

Source of the reasons: torch/_inductor/codecache.py (CacheabilityValidator) and
torch/_functorch/_aot_autograd/autograd_cache.py (check_cacheable, check_node_safe), 2.8 to 2.13.
"""

import re
from typing import NamedTuple

from ..model import CacheLookup


class Bypass(NamedTuple):
    """A reason of torch's for a bypass: the pattern of its text, what it means, and what to do if known."""

    pattern: re.Pattern[str]
    why: str
    what_to_do: str | None


_APART = "keep what uses it in a compiled function of its own, so that the rest can be cached."
_BYPASSES = tuple(
    Bypass(re.compile(pattern), why, what_to_do)
    for pattern, why, what_to_do in (
        (
            r"Unsupported ((?:pre|post) grad|joint) custom pass",
            "a custom pass ({0}) has no stable id",
            "derive the pass from `torch._inductor.custom_graph_pass.CustomGraphPass`, with a `uuid` made of "
            "what it does (`get_hash_for_files((__file__,))`).",
        ),
        (
            r"Unsupported (_pre_fusion_custom_pass|_post_fusion_custom_pass|_fuse_ddp_communication_pass)",
            "a custom pass ({0}) has no stable id",
            "derive the pass from `CustomSchedulerPass` or `CustomGraphPass` of "
            "`torch._inductor.custom_graph_pass`, with a `uuid` made of what it does.",
        ),
        (
            r"Unsupported call_function target autograd_function_apply",
            "AOTAutograd's cache does not keep a custom `torch.autograd.Function`",
            "set `torch._functorch.config.autograd_cache_allow_custom_autograd_functions = True`, if what "
            "the function computes depends on its inputs alone.",
        ),
        (
            r"Function module: torch\.amp\.autocast_mode",
            "AOTAutograd's cache does not keep a graph in which `torch.autocast` is entered",
            "enter `torch.autocast` around the call of the compiled function, in place of inside of it.",
        ),
        (
            r"Function module: torch\._dynamo\.utils, ?\nFunction name: wrapped_(\S{1,200})",
            "AOTAutograd's cache does not know `{0}` of numpy",
            "call torch's function in place of numpy's.",
        ),
        (
            r"Function module: (torch\.\S{1,200}), ?\nFunction name: (\S{1,200})",
            "AOTAutograd's cache does not know {0}.{1}, which torch itself put into the graph",
            None,
        ),
        (
            r"Function module: (\S{1,200}), ?\nFunction name: (\S{1,200})",
            "AOTAutograd's cache does not know {0}.{1}",
            "make the function a custom operator (`torch.library.custom_op`), or, if its result depends on "
            "its arguments alone, name it in `torch._inductor.config.unsafe_marked_cacheable_functions`.",
        ),
        (
            r"Unsupported call_function target (\S{1,200})",
            "AOTAutograd's cache does not know {0}",
            "make the function a custom operator (`torch.library.custom_op`).",
        ),
        (
            r"Unsupported call_method (?:target|method) (\S{1,200})",
            "AOTAutograd's cache does not know the method {0}",
            "call the function of torch instead of the method.",
        ),
        (
            r"Can't cache HigherOrderOperator: (\S{1,200})",
            "the operator {0} cannot be cached",
            _APART,
        ),
        (
            r"SAC context_fn does not have a cache_hash",
            "selective checkpointing has a `context_fn` without `cache_hash`",
            "give the function an attribute `cache_hash` that changes when it does.",
        ),
        (
            r"freezing enabled|frozen constants",
            "freezing puts the weights into the graph",
            "without `torch._inductor.config.freezing` the graph is cached.",
        ),
        (
            r"FX graph cache is not enabled",
            "AOTAutograd's cache needs the FX graph cache, which is off",
            "unset `TORCHINDUCTOR_FX_GRAPH_CACHE=0`, or `torch._inductor.config.fx_graph_cache = False`.",
        ),
        (
            r"activation_memory_budget_(runtime_estimator|solver) is a raw callable",
            "the memory budget's {0} is a plain function",
            "give it a `uuid` (`CustomRuntimeEstimator`, `CustomKnapsackSolver`).",
        ),
        (r"bisect", "the compiler bisector is on", "it compiles again on purpose."),
        (r"mkldnn", "there are mkldnn tensors in the graph", "let torch convert the weights at run time."),
        (
            r"torchbind|ScriptObject|FakeScriptObject",
            "there is a TorchBind object in the graph",
            "pass what it holds as tensors.",
        ),
        (
            r"[Pp]ickle|Reduce unsupported",
            "something in the graph cannot be pickled",
            "pass it to the compiled function as an argument, or keep it out of the graph.",
        ),
        (
            r"constant folding",
            "run-time constant folding is on",
            "turn it off where starting fast matters more.",
        ),
        (r"No shape env", "Inductor was called without Dynamo's shapes", "compile through `torch.compile`."),
    )
)
_LONGEST = 160  # characters of torch's own reason


# Functions that raise an error for what their result shows to be wrong. That is an effect: torch puts the
# check into the operator `with_effects`, and keeps no such graph. Those that leave the check to the program
# are kept: each was tried with torch 2.13.
_WITH_EFFECTS = "with_effects"
_WITHOUT_CHECK = {
    "linalg_cholesky": "cholesky_ex",
    "linalg_inv": "inv_ex",
    "inverse": "inv_ex",
    "linalg_solve": "solve_ex",
    "linalg_lu_factor": "lu_factor_ex",
    "linalg_ldl_factor": "ldl_factor_ex",
}
_LINEAR_ALGEBRA = "linalg_"  # how torch names functions of `torch.linalg`


def bypass_words(lookup: CacheLookup) -> tuple[str, str | None]:
    """Why a cache was not used, and what to change; an unknown reason is given in torch's own words."""
    reason, operator = lookup.reason, lookup.bypassed_by
    if not reason:
        return "torch does not say why", None
    if operator is not None and _WITH_EFFECTS in reason:
        return _words_of_effect(operator)
    for bypass in _BYPASSES:
        if found := bypass.pattern.search(reason):
            return bypass.why.format(*found.groups()), bypass.what_to_do
    return " ".join(reason.split())[:_LONGEST], None


def _words_of_effect(operator: str) -> tuple[str, str]:
    shown = (
        f"torch.linalg.{operator[len(_LINEAR_ALGEBRA) :]}"
        if operator.startswith(_LINEAR_ALGEBRA)
        else operator
    )
    instead = _WITHOUT_CHECK.get(operator)
    if instead is None:
        return f"`{shown}` has an effect beside its result, and no graph with one is kept", _APART
    why = f"`{shown}` raises an error for some inputs, and no graph that checks for one is kept"
    return why, (
        f"`torch.linalg.{instead}` does not check, and is kept: have the program look at the `info` that it "
        "returns, where an input may be singular."
    )
