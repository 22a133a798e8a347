"""Causes: how large a tensor becomes depends on what another one holds.

Source: torch/_subclasses/fake_impls.py (operators with outputs that depend on data); read with 2.13, names
with 2.8 to 2.15 (torch/_dynamo/graph_break_registry.json).
"""

import re

from ..analysis.source_lines import condition_of, targets_of
from .rules import NAME, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule
from .selections import NOT_KNOWN, selected_by_a_mask

_SIZED = "how large a tensor on this line becomes depends on what another one holds: `{line}`"
_OF_KNOWN_SIZE: RemedyTemplate[BreakContext] = RemedyTemplate(
    "use what has a known size in its place: a mask and `torch.where`, or `torch.topk`.",
    cures=("boolean_mask",),
)


# What has to know how many rows there are, and raises for a size that depends on data: convolutions and
# attention in Inductor, `cumsum` and singular values with gradients in AOTAutograd, `numel()` in Dynamo (run
# with 2.13).
_NEEDS_THE_SIZE = re.compile(
    r"(?<![a-z])conv(?:\d{0,2}d?|_\w{1,20})\(|(?:attention|attn|mha)\w{0,20}\(|\.cumsum\(|\bsvd\w{0,10}\("
    r"|\.numel\(\)",
    re.IGNORECASE,
)
_ASKS_FOR_THE_SIZE = re.compile(r"\.shape\b|\.size\(|\blen\(|\.numel\(")
_MAY_END = "an operator behind it that has to know the size ends the program with an error"


def _made_of_it(break_context: BreakContext) -> dict[str, int]:
    """The names that later lines make of what the line gives, and its own; with the line, from 0 on."""
    names = dict.fromkeys(targets_of(break_context.line), 0)
    for number, line in enumerate(break_context.following, 1):
        text = line.strip()
        if any(name in NAME.findall(text) for name in names):
            names |= {each: number for each in targets_of(text) if each not in names}
    return names


def _is_branched_on_later(break_context: BreakContext) -> bool:
    """Whether a later line branches on the size of what is made of what the line gives."""
    names = _made_of_it(break_context)
    asked = (condition_of(line) or "" for line in break_context.following)
    return any(
        _ASKS_FOR_THE_SIZE.search(each) is not None and any(name in NAME.findall(each) for name in names)
        for each in asked
    )


def _is_needed_by_an_operator(break_context: BreakContext) -> bool:
    """Whether a later line, or this one, gives what is found to an operator that has to know its size."""
    names = _made_of_it(break_context)
    lines = (each for each in break_context.following if any(name in NAME.findall(each) for name in names))
    return any(map(_NEEDS_THE_SIZE.search, (break_context.line, *lines)))


def _with_such_operators(*cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "set `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1` in the environment (or "
        "`torch._dynamo.config.capture_dynamic_output_shape_ops = True` before the first call): then the "
        "operator is part of the graph.",
        cures=cures,
        change=Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", "1"),)),
        may_change=_MAY_END,
        not_for=("loop_over_hits", "selection_then_branch", "rows_under_attention", "experts_that_get_none"),
    )


def _is_taken_out_next(break_context: BreakContext) -> bool:
    """Whether a later line takes a number out of what the line finds."""
    names = break_context.any_target
    taken = re.compile(rf"\b(?:{names})\b.{{0,100}}\.item\(|\bint\((?:{names})\b")
    return any(map(taken.search, break_context.following))


LOOP_OVER_HITS: Rule[BreakContext] = Rule(
    re.compile(r"Dynamic shape operator|Could not extract specialized integer from data-dependent"),
    "how often a loop runs depends on what a tensor holds (`{line}`), " + NOT_KNOWN,
    (
        RemedyTemplate(
            "do not loop over what was found: calculate for all of them at once, with a mask of those "
            "that are wanted, `torch.where(mask, new, 0)`.",
            cures=("loop_over_hits", "classes_in_a_loop", "rows_of_each_expert"),
        ),
    ),
    when=lambda break_context: break_context.is_looped_over,
)
TABLE: BreakRules = (
    LOOP_OVER_HITS,
    Rule(
        re.compile(r"Dynamic shape operator\n.{0,200}\bnonzero\b"),
        _SIZED,
        (
            RemedyTemplate(
                "look up `{target}` in front of the call of `{function}`, and pass in the number that comes "
                "of it, as a tensor of one dimension (`torch.tensor([3])`): then no value is taken out, and "
                "one version serves all.",
                cures=("step_looked_up_in_a_schedule",),
            ),
        ),
        when=lambda break_context: break_context.is_branched_on_next and _is_taken_out_next(break_context),
    ),
    Rule(
        re.compile(r"Dynamic shape operator"),
        _SIZED,
        (selected_by_a_mask("selection_then_branch", "experts_that_get_none"),),
        when=lambda context: context.is_branched_on_next or _is_branched_on_later(context),
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n"),
        _SIZED + ", and an operator that gets it has to know that",
        (
            RemedyTemplate(
                "keep all rows, and let a mask decide what becomes of those that are not wanted: "
                "`torch.where(mask[:, None], new, old)`, and as the mask of attention; or select them before "
                "the call of `{function}`, and pass them in.",
                cures=("rows_under_attention",),
            ),
        ),
        when=_is_needed_by_an_operator,
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n"),
        _SIZED,
        (
            RemedyTemplate(
                "set `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1 TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` "
                "in the environment: then the operator, and taking a value out of what it finds, are part "
                "of the graph.",
                cures=("index_of_what_is_found",),
                change=Change(
                    environment=(
                        Assignment("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", "1"),
                        Assignment("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "1"),
                    )
                ),
            ),
            _OF_KNOWN_SIZE,
        ),
        line=re.compile(r"\.item\(\)|\.tolist\(\)|\bint\("),
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n.{0,200}\brepeat_interleave\b"),
        _SIZED,
        (
            RemedyTemplate(
                "say how many come out, where that is known: `torch.repeat_interleave(…, output_size=n)`, "
                "with a number that is passed in.",
                cures=("repeated_by_durations",),
            ),
            _with_such_operators(),
        ),
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n.{0,200}\bbincount\b"),
        _SIZED,
        (
            _with_such_operators("atoms_counted", "counted_values", "counted_with_a_smallest_length"),
            RemedyTemplate(
                "count into as many places as there are, where that is known: `torch.zeros(n, "
                "dtype=torch.int64).scatter_add_(0, x, torch.ones_like(x))` in place of `torch.bincount(x)`."
            ),
        ),
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n.{0,200}\b_?unique"),
        _SIZED,
        (_with_such_operators("unique"),),
    ),
    Rule(
        re.compile(r"Dynamic shape operator\n"),
        _SIZED,
        (
            _with_such_operators(
                "index_of_a_timestep",
                "tokens_of_an_expert",
                "masked_language_batch",
                "overlap_of_boxes_by_mask",
            ),
            _OF_KNOWN_SIZE,
        ),
    ),
    Rule(re.compile(r"Dynamic shape operator"), _SIZED, (_OF_KNOWN_SIZE,)),
)
