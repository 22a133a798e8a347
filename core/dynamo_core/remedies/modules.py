"""Causes: modules and distributions of torch that break the graph inside of themselves."""

import re

from .rules import BreakContext, BreakRules, Change, RemedyTemplate, Rule
from .selections import DATA_DEPENDENT, NOT_KNOWN

# Below such an error: the user's line, and behind it the line of torch's that asks.
_ASKED_IN_TORCH = re.compile(r"Caused by: .{1,500}\((?!_)[\w/]{1,100}\.py:\d{1,9} in (\w{1,100})\)")
_ASKS_FOR_A_VARIANCE = "gaussian_nll_loss"

# Before all others: inside of DistributedDataParallel the break can be of any kind.
AROUND_DDP: BreakRules = (
    Rule(
        re.compile(r"."),
        "`DistributedDataParallel` keeps its own accounts at each call, which torch does not trace",
        (
            RemedyTemplate(
                "compile the module before it is wrapped, `DistributedDataParallel(torch.compile(module))`: "
                "then the graph has the module alone.",
                may_change="gradients are exchanged once the backward is done, and no longer while it runs",
                cures=("compiled_around_ddp",),
            ),
        ),
        when=lambda break_context: break_context.is_in_ddp,
    ),
)
# Source: torch/nn/modules/transformer.py (_detect_is_causal_mask), read in 2.8 to 2.15.
IN_TRANSFORMERS: BreakRules = (
    Rule(
        re.compile(r"."),
        "`{line}` gives a mask, and does not say whether it is causal: torch asks its values in each call",
        (
            RemedyTemplate(
                "say whether the mask is causal, in the call of the module that takes it: `is_causal=True` "
                "beside `mask` of an encoder, `tgt_is_causal=True` beside `tgt_mask` of a decoder or of "
                "`nn.Transformer` (`src_is_causal` beside `src_mask`); `False` for a mask that is not.",
                cures=("causal_mask_of_a_transformer",),
                change=Change(edit="mask declared causal"),
            ),
        ),
        when=lambda break_context: break_context.innermost == "_detect_is_causal_mask",
    ),
)


def _asks_in_torch(break_context: BreakContext) -> bool:
    """Whether a function of torch branches on what a tensor holds.

    Source: torch/nn/functional.py (gaussian_nll_loss), 2.8 to 2.15, the only one of its functions that does.
    """
    if DATA_DEPENDENT.search(break_context.words):
        return _ASKED_IN_TORCH.search(break_context.words) is not None
    return _ASKS_FOR_A_VARIANCE in f"{break_context.line} {break_context.innermost}"


BY_A_FUNCTION_OF_TORCHS: BreakRules = (
    Rule(
        re.compile(r"Could not guard on data-dependent expression (?:Eq|Ne)\(u\d{1,9}, u\d{1,9}\)"),
        "`{line}` compares two sizes that depend on what tensors hold: torch does not know them to be equal",
        (
            RemedyTemplate(
                "say in front of `{line}` that its tensors are of one length, where they are, as those that "
                "one mask selects: `torch._check(a.shape[0] == b.shape[0])`. Or select nothing, and weigh "
                "all of it by the mask: `((a - b) ** 2 * mask).sum() / mask.sum()`.",
                cures=("masked_loss_of_unknown_sizes",),
                not_for=("loss_that_asks_for_a_variance", "loss_that_asks_in_one_graph"),
            ),
        ),
    ),
    Rule(
        re.compile(rf"{DATA_DEPENDENT.pattern}|Data dependent operator"),
        "in `{line}` torch itself asks what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "take `{call}` out of the compiled code: return what it needs, and call it after. Without "
                "`fullgraph=True` the graph breaks at that line alone.",
                cures=("loss_that_asks_for_a_variance", "loss_that_asks_in_one_graph"),
            ),
        ),
        when=_asks_in_torch,
    ),
)
# Source: torch/distributions/distribution.py (Distribution.__init__, _validate_sample), and
# torch/_dynamo/eval_frame.py (TorchPatcher.patch), which switches these checks off.
IN_DISTRIBUTIONS: BreakRules = (
    Rule(
        re.compile(r"."),
        "torch.distributions checks its arguments here, which reads the values of tensors; torch.compile "
        "leaves such checks out unless asked for, and `dynamo run` keeps them, as eager does",
        (
            RemedyTemplate(
                "make it with `validate_args=False` where its arguments are known to be valid; for all: "
                "`torch.distributions.Distribution.set_default_validate_args(False)`. `dynamo run "
                "--semantics compiled` leaves these checks out as torch.compile does.",
                cures=("distribution_validated",),
            ),
        ),
        when=lambda break_context: break_context.is_in_distributions,
    ),
)
