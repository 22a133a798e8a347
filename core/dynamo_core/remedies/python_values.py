"""Causes: Python draws in a branch, looks into a list of a tensor's values, or goes through an iterator.

Source: torch/_dynamo/variables/{user_defined,builtin}.py (missing tp_iter), torch/_dynamo/symbolic_convert.py
(generic_jump); read and run with 2.13.
"""

import re

from ..analysis.source_lines import indentation, targets_of
from .rules import BreakContext, BreakRules, Change, RemedyTemplate, Rule
from .selections import BRANCH, NOT_KNOWN

_DRAWS = re.compile(
    r"\btorch\.(?:rand\w{0,10}|bernoulli|multinomial|normal|poisson)\("
    r"|\.(?:bernoulli_?|normal_|uniform_|random_|exponential_|r?sample)\("
)
_OTHER_WAY = re.compile(r"\s*(?:else|elif)\b")
# Torch's name for the iterator of Python's that it cannot go through.
_OF_PYTHON = re.compile(
    r"missing tp_iter\n.{0,200}UserDefinedObjectVariable\((?:zip|map|filter|enumerate|reversed|generator"
    r"|\w{1,60}iterator)\)"
    r"|'(?:zip|map|filter|enumerate|reversed|generator|\w{1,60}iterator)' implements '__iter__' in C"  # 2.15
)
_TRAINS = re.compile(r"\.backward\(|\.step\(")
_LIST = re.compile(r"\.tolist\(\)")
_VALUES = re.compile(r"Tensor\.(?:item|tolist)\(\)|_local_scalar_dense")
_KEPT_IN_A_LIST = re.compile(
    r"^\s*[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,4}\.(?:append|appendleft|extend)\(.{0,300}\.(?:item|tolist)\(\)"
)
_TAKES_TENSORS = re.compile(r"\b(?:searchsorted|bucketize)\([^()]{1,200}\.item\(\)")


def _draws_in_its_block(break_context: BreakContext) -> bool:
    """Whether the branch, or its other way, draws random numbers."""
    block, behind = break_context.block, break_context.behind_the_block
    other = behind[1:] if any(map(_OTHER_WAY.match, behind[:1])) else []
    deep = indentation(behind[0]) if behind else 0
    inside = [line for line in other if indentation(line) > deep]
    is_branch = break_context.line.startswith(("if ", "elif "))
    return is_branch and any(map(_DRAWS.search, (*block, *inside)))


def _is_looked_into(break_context: BreakContext) -> bool:
    """Whether a later line asks in Python what is in the list, or orders it: not one that only adds it up."""
    names = "|".join(map(re.escape, targets_of(break_context.line)))
    asks = re.compile(
        rf"\b(?:{names})\.(?:index|count|sort|remove)\(|\bin (?:{names})\b(?!\[)"
        rf"|\b(?:set|sorted|Counter|max|min)\((?:{names})\b"
    )
    lines = (line for line in break_context.following if not line.lstrip().startswith("for "))
    return bool(names) and any(map(asks.search, lines))


DRAWS_IN_A_BRANCH: BreakRules = (
    Rule(
        BRANCH,
        "which way `{branch}` goes depends on what a tensor holds, " + NOT_KNOWN + "; and random numbers are "
        "drawn in one way only",
        (
            RemedyTemplate(
                "decide and draw in front of the call of `{function}`, branch and all, and pass in what is "
                "drawn; where the graph calculates what decides, end the compiled function in front of "
                "`{line}`. `torch.where` would draw in each call, and all later random numbers were others.",
                cures=("batch_that_is_drawn",),
            ),
        ),
        when=_draws_in_its_block,
    ),
)
TABLE: BreakRules = (
    Rule(
        _OF_PYTHON,
        "`{line}` goes through an iterator (as `zip`, `map` or a generator) that was made outside of the "
        "compiled code, and into which torch cannot look",
        (
            RemedyTemplate(
                "make a list of it, `list(…)`, in front of the call of `{function}`, and pass that in.",
                cures=("pairs_from_outside",),
                may_change="all its values are there at once, and a list of another length is compiled again",
                not_for=("epoch_that_is_compiled",),
            ),
        ),
        line=re.compile(r"^\s*for\b"),
        when=lambda break_context: not any(map(_TRAINS.search, break_context.block)),
    ),
    Rule(
        _VALUES,
        "`{line}` makes a list of what a tensor holds, in which Python then looks for something, "
        + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave the list to Python: make it, with all that looks into `{target}`, before the call of "
                "`{function}`, and pass in what comes of it as a tensor; or end the compiled function in "
                "front of it, and compile what comes after it as a function of its own.",
                cures=("place_of_a_picture",),
            ),
        ),
        line=_LIST,
        when=_is_looked_into,
    ),
    Rule(
        re.compile(r"Tensor\.item\(\)|_local_scalar_dense"),
        "a function of torch's is given a value that is taken out of a tensor (`{line}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave out `.item()` in `{line}`: `searchsorted` and `bucketize` take a tensor as well, and "
                "give the same.",
                cures=("drawn_from_a_tree",),
                change=Change(edit="item kept a tensor"),
            ),
        ),
        line=_TAKES_TENSORS,
    ),
    Rule(
        _VALUES,
        "`{line}` puts what a tensor holds into a list that is kept from call to call, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "move `{line}` out of the compiled code, behind the call of `{function}`, and return what it "
                "needs: torch compiles again for each length of a list that it has to know.",
                cures=("means_kept_in_a_list",),
            ),
        ),
        line=_KEPT_IN_A_LIST,
    ),
)
