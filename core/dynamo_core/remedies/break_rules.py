"""Cause and advice for a graph break or a frame that fell back: the first cause of TABLE that matches.

If none matches, torch's own explanation and its useful hints are used.
"""

import re
from collections.abc import Sequence

from ..analysis.recompiles import is_recompile_limit
from ..model import GraphBreak
from . import (
    branches,
    calls,
    code,
    gradients,
    modules,
    python_code,
    python_values,
    recurrent,
    requested,
    sizes,
    values,
)
from .expected import expected_break
from .rules import (
    Advice,
    BreakContext,
    BreakRules,
    Change,
    RemedyTemplate,
    advice_of,
    break_context_of,
    first_rule,
)

# Specific causes come before general ones.
TABLE: BreakRules = (
    *modules.AROUND_DDP,
    *code.IN_HOOKS,
    *modules.IN_DISTRIBUTIONS,
    *modules.IN_TRANSFORMERS,
    *modules.BY_A_FUNCTION_OF_TORCHS,
    *calls.DRAWN,
    *requested.BY_A_LIBRARY,
    *requested.REQUESTED,
    *branches.FOR_ITS_EFFECT,
    *python_values.DRAWS_IN_A_BRANCH,
    *branches.TABLE,
    *python_values.TABLE,
    *values.TABLE,
    *sizes.TABLE,
    *recurrent.PACKED_SEQUENCES,
    *gradients.GRADIENTS,
    *calls.RANDOM_STATE,
    *recurrent.RECURRENT,
    *code.TORCH_CODE,
    *calls.CALLS,
    *python_code.PYTHON_CODE,
    *calls.ANY_OTHER,
)
_LENGTHENED = (
    "move `{line}` out of the compiled code, behind the call of `{function}`, and return what it needs: it "
    "breaks the graph, and for each length of `{lengthened}` torch compiles again."
)
_OUTSIDE = (
    "leave `{call}` to Python: do it before the call of `{function}`, and pass in what it gives, where "
    "nothing of the graph goes into it; else end the compiled function in front of it, and compile what "
    "comes after it as a function of its own."
)
_AROUND = (
    "do not compile what `{call}` calls by itself: what breaks the graph is in `{library}`, and not yours to "
    "change; compile what is around it, as functions of their own."
)
_IS_MORE_THAN_A_STATEMENT = re.compile(
    r"(?:async|for|while|with|if|elif|else|try|except|def|class|raise|@)\b"
)
_AT_LIMIT = Advice("`dynamo recompiles` shows which guard failed each time and how to keep it from failing.")


def break_advice(
    graph_break: GraphBreak, torch_version: str | None = None, lengthened: str | None = None
) -> list[Advice]:
    """What to do about a break, the surest advice first.

    `lengthened` is a list or other container whose length the line changes, so that its guard fails.
    """
    if is_recompile_limit(graph_break.reason):
        return [_AT_LIMIT]
    if expected_break(graph_break) is not None:
        return []
    break_context = break_context_of(graph_break, torch_version)
    if lengthened is not None:
        return [Advice(_LENGTHENED.format(lengthened=lengthened, **break_context.parts))]
    advice = [
        each
        for remedy, each in advice_of(TABLE, break_context, _parts)
        if not (break_context.is_outside and _is_about_line(remedy))
    ]
    if advice or graph_break.explanation is None:
        return advice
    if break_context.is_outside:
        is_librarys = break_context.library is not None and not _is_in_dynamo(graph_break)
        return [Advice(_AROUND.format_map(break_context.parts))] if is_librarys else []
    hints = useful_hints(graph_break.explanation.hints)
    is_vague = not hints or _VAGUE.match(hints[0]) is not None
    ours = _OUTSIDE.format_map(break_context.parts) if _can_be_outside(break_context) else None
    return [Advice(each) for each in ([ours, *hints] if ours and is_vague else hints)]


def _is_in_dynamo(graph_break: GraphBreak) -> bool:
    """Whether the line is one of Dynamo's own, as the wrapper around what is compiled."""
    return any("/torch/_dynamo/" in each.place.file for each in graph_break.stack[-1:])


def _can_be_outside(break_context: BreakContext) -> bool:
    """Whether the line is a statement by itself, which Python can do between two compiled functions."""
    return bool(break_context.line) and _IS_MORE_THAN_A_STATEMENT.match(break_context.line) is None


def break_cause(graph_break: GraphBreak, torch_version: str | None = None) -> str:
    """Why the graph breaks, in a sentence."""
    expected = expected_break(graph_break)
    if expected is not None:
        return expected
    break_context = break_context_of(graph_break, torch_version)
    rule = first_rule(TABLE, break_context)
    if rule is not None:
        return rule.sentence.format_map(break_context.parts)
    explanation = graph_break.explanation.explanation if graph_break.explanation else None
    return " ".join((explanation or graph_break.kind).partition("\n\n")[0].split())


def loops_over_what_it_finds(graph_break: GraphBreak) -> bool:
    """Whether a loop is over what the line of a break finds, so that a break in the loop goes with it."""
    return first_rule(TABLE, break_context_of(graph_break, None)) is sizes.LOOP_OVER_HITS


def leaves_a_loop_to_python(graph_break: GraphBreak) -> bool:
    """Whether the advice is to compile neither the loop of the break nor what is called in it."""
    rule = first_rule(TABLE, break_context_of(graph_break, None))
    return rule is not None and rule.remedies[:1] == (values.LOOP_LEFT_TO_PYTHON,)


def draws_numbers(graph_break: GraphBreak) -> bool:
    """Whether random numbers are drawn on its line, which are others in each call."""
    return first_rule(TABLE, break_context_of(graph_break, None)) in calls.DRAWN


def works_on_packed_sequences(graph_break: GraphBreak) -> bool:
    """Whether its line packs or unpacks sequences, or works on packed ones."""
    return first_rule(TABLE, break_context_of(graph_break, None)) in recurrent.PACKED_SEQUENCES


def names_that_decide_a_report(graph_break: GraphBreak) -> frozenset[str]:
    """The names of the condition under which its line prints or logs, and does nothing else."""
    return branches.names_that_decide_a_report(break_context_of(graph_break, None))


def _parts(break_context: BreakContext, change: Change | None) -> dict[str, str]:
    return break_context.parts


def _is_about_line(remedy: RemedyTemplate[BreakContext]) -> bool:
    return "{" in remedy.text or (isinstance(remedy.change, Change) and remedy.change.edit is not None)


# Torch's hints on a graph break: which of them help the user, and which of those comes first.
#
# Source: torch/_dynamo/graph_break_hints.py and the hints in torch/_dynamo/graph_break_registry.json, read
# with 2.13; the hints of 2.8 to 2.15 have the same words.

# For those who develop torch, or for nobody: that there is a bug, that something might be supported, that
# eager may fail as well, or what has an address in it.
_FOR_DEVELOPERS = re.compile(
    r"\b(?:report|open|file|submit) (?:an issue|a bug)|tracing rules|VariableTracker|\btp_\w"
    r"|This graph break is fundamental|likely to be a Dynamo bug|not supposed to be reachable"
    r"|side effect system|does not really define|debug context|debug_force_graph_break"
    r"|building PyTorch from source|pytest|TestCase| at 0x[0-9a-f]"
    r"|may result in an error when running in eager"
    # What registers C types with torch, or turns on what torch itself calls unsafe or experimental.
    r"|allow_c_slot|register_opaque_type|tracable|unreconstructable|does not expect this to happen"
    r"|safe if its |compiled autograd|silent incorrectness",
    re.IGNORECASE,
)
# What says only what not to do, or what to make sure of, and not how.
_VAGUE = re.compile(
    r"(?:Avoid|Ensure|Check|Make sure|Consider|Currently|Supported|Dynamo does not|It is likely)\b"
)
# What may be said of many breaks, and comes after what is said of this one.
_GENERAL = re.compile(r"caused by an earlier graph break|dont_skip_tracing")
_OR_REPORT = re.compile(r",? or (?:report|open|file|submit) an issue[^.]{0,100}")
_INTERNAL = re.compile(r"___\w")


def useful_hints(hints: Sequence[str]) -> list[str]:
    """The hints that tell the user what to do, each in one line, and those on just this break first."""
    plain = (_OR_REPORT.sub("", " ".join(hint.split())) for hint in hints)
    useful = [hint for hint in plain if not (_FOR_DEVELOPERS.search(hint) or _INTERNAL.search(hint))]
    return sorted(
        dict.fromkeys(useful), key=lambda hint: (bool(_GENERAL.search(hint)), bool(_VAGUE.match(hint)))
    )
