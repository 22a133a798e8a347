"""Causes: recurrent layers of torch's, and the packed sequences that they may be given.

Source: torch/_dynamo/variables/builder.py (`allow_rnn`) and torch/nn/utils/rnn.py, read and run with 2.13.
"""

import re

from ..analysis.source_lines import targets_of
from .rules import NAME, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

_PACKS = re.compile(r"\bpack_(?:padded_)?sequence\(")


def _is_lstm_with_gradients(break_context: BreakContext) -> bool:
    return not break_context.context.startswith(("GRU", "RNN")) and break_context.grad_enabled is not False


def _is_of_packed_sequences(break_context: BreakContext) -> bool:
    """Whether the line packs or unpacks sequences, or works on what a line before it has packed."""
    packing = [each.strip() for each in break_context.before if _PACKS.search(each)]
    packed = {name for each in packing for name in targets_of(each)}
    is_named = re.search(r"\bpack_|_packed_sequence\b", break_context.words + break_context.line)
    return is_named is not None or bool(packed & {*NAME.findall(break_context.line)})


PACKED_SEQUENCES: BreakRules = (
    Rule(
        re.compile(r"marked as skipped|RNN, GRU, or LSTM|_local_scalar_dense"),
        "`{line}` works on packed sequences, whose sizes depend on what the tensor of lengths holds",
        (
            RemedyTemplate(
                "leave what works on packed sequences to Python: end the compiled function in front of "
                "`pack_padded_sequence`, and compile what comes after `pad_packed_sequence` (without that, "
                "after the layer that gets them) as a function of its own.",
                cures=("packed_sequence", "packed_in_both_directions", "packed_in_a_helper"),
            ),
        ),
        when=_is_of_packed_sequences,
    ),
)
RECURRENT: BreakRules = (
    Rule(
        re.compile(r"RNN, GRU, or LSTM"),
        "torch does not trace `nn.RNN`, `nn.GRU` and `nn.LSTM` as it is set",
        (
            RemedyTemplate(
                "compile what comes before `{call}` and what comes after it, and leave the LSTM between "
                "them to eager. `torch._dynamo.config.allow_rnn = True` has it traced, which works under "
                "`torch.no_grad()`; with gradients, `aot_eager` and `inductor` then raise an error (torch "
                "2.13, CPU).",
                cures=("lstm_in_training",),
            ),
        ),
        when=_is_lstm_with_gradients,
    ),
    Rule(
        re.compile(r"RNN, GRU, or LSTM"),
        "torch does not trace `nn.RNN`, `nn.GRU` and `nn.LSTM` unless a setting says so",
        (
            RemedyTemplate(
                "set `torch._dynamo.config.allow_rnn = True` before the first call.",
                cures=("recurrent_layer",),
                not_for=("lstm_in_training",),
                change=Change(settings=(Assignment("torch._dynamo.config.allow_rnn", "True"),)),
            ),
        ),
    ),
)
