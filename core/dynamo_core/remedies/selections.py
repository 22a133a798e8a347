"""Causes: a branch on whether a mask holds anywhere, and rows that are selected by it.

Source: torch/_dynamo/symbolic_convert.py (generic_jump); read with 2.13, its names with 2.8 to 2.15.
"""

import re

from ..analysis.source_lines import targets_of
from .rules import BreakContext, BreakRules, RemedyTemplate, Rule

# Of a branch on a number that was taken out of a tensor. Source: torch/_dynamo/exc.py (UserError).
DATA_DEPENDENT = re.compile(r"Could not guard on data-dependent expression")
BRANCH = re.compile(r"[Dd]ata-dependent branching|generic_jump|Data-dependent jump")
NOT_KNOWN = "and that is not known while the function is compiled"
_COMPARES = re.compile(r"[<>]|[=!]=")
_OTHER_WAY = re.compile(r"\s*(?:else|elif)\b")
_ASKS_A_MASK = re.compile(
    r"(?:torch\.any\((\w{1,60})\)|(\w{1,60})\.any\(\)|(\w{1,60})\.sum\(\) (?:> 0|!= 0|>= 1))"
)


def _fills_by_a_mask(break_context: BreakContext) -> bool:
    """Whether the branch asks if a mask holds anywhere, and only puts rows where it does: `out[mask] = …`."""
    asked = _ASKS_A_MASK.fullmatch(break_context.parts["condition"])
    if asked is None or any(map(_OTHER_WAY.match, break_context.following[len(break_context.block) :][:1])):
        return False
    mask = next(filter(None, asked.groups()))
    fills = re.compile(
        rf"\s*[\w.]{{1,100}}\[(?:[^\[\]]{{0,60}}, ?)?{mask}(?:, ?[^\[\]]{{0,60}})?\] [-+*/]?= "
    )
    *made, last = break_context.block or [""]
    kept = {name for line in made for name in targets_of(line.strip())}
    behind = re.findall(r"\w+", " ".join(break_context.following[len(break_context.block) :]))
    return (
        fills.match(last) is not None and all(map(targets_of, map(str.strip, made))) and not kept & {*behind}
    )


def _selects_by_a_mask(break_context: BreakContext) -> bool:
    """Whether the branch begins with a mask, and then selects by it."""
    first, *behind = break_context.following or ("",)
    masks = targets_of(first) if _COMPARES.search(first) else ()
    return any(f"[{mask}]" in line for mask in masks for line in behind)


def selected_by_a_mask(*cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "do not select rows: keep all of them, with a mask that is 0 for those that are not wanted, "
        "`(x * mask[:, None]).sum(0) / mask.sum()` in place of `x[mask].mean(0)`; and in place of the branch "
        "choose, `torch.where(mask.any(), then, else)`; if it asks for more than n rows, `mask.sum() > n`.",
        cures=cures,
    )


SELECTIONS: BreakRules = (
    Rule(
        BRANCH,
        "whether there are any rows to fill depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave out the branch, and select no rows: calculate for all of them, and choose by the "
                "mask, `out = torch.where(mask[:, None], new, out)` in place of `out[mask] = …`; where the "
                "mask holds nowhere, that changes nothing.",
                cures=("rows_for_each_expert",),
                may_change="all rows are calculated, where some were",
            ),
        ),
        when=_fills_by_a_mask,
    ),
    Rule(
        BRANCH,
        "whether rows are selected depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave out the branch, and select no rows: keep all of them, and let the mask decide what "
                "becomes of those that are not wanted: `torch.where(mask, new, 0)`, or an index that leads "
                "to a row that is cut off after it.",
                cures=("dense_batch_with_overflow",),
            ),
        ),
        when=_selects_by_a_mask,
    ),
)
