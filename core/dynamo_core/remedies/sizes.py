"""Causes: how large a tensor becomes depends on what another one holds.

Source: torch/_subclasses/fake_impls.py (operators with outputs that depend on data); read with 2.13, names
with 2.8 to 2.15 (torch/_dynamo/graph_break_registry.json).
"""

import re

from .branches import NOT_KNOWN, selected_by_a_mask
from .rules import Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

_SIZED = "how large a tensor on this line becomes depends on what another one holds: `{line}`"
_OF_KNOWN_SIZE: RemedyTemplate[BreakContext] = RemedyTemplate(
    "use what has a known size in its place: a mask and `torch.where`, or `torch.topk`.",
    cures=("boolean_mask",),
)


def _with_such_operators(*cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "set `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1` in the environment (or "
        "`torch._dynamo.config.capture_dynamic_output_shape_ops = True` before the first call): then the "
        "operator is part of the graph.",
        cures=cures,
        change=Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", "1"),)),
        not_for=("loop_over_hits", "selection_then_branch"),
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
        (selected_by_a_mask("selection_then_branch"),),
        when=lambda break_context: break_context.is_branched_on_next,
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
            _with_such_operators("repeated_by_durations"),
            RemedyTemplate(
                "say how many come out, where that is known: `torch.repeat_interleave(…, output_size=n)`."
            ),
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
