"""Causes: a branch or an assert on what a tensor holds, by what the branch does.

Source: torch/_dynamo/symbolic_convert.py (generic_jump); read with 2.13, its names with 2.8 to 2.15
(torch/_dynamo/graph_break_registry.json).
"""

import re

from ..analysis.source_lines import (
    begins_with_a_guard,
    has_computed_message,
    indentation,
    is_call_alone,
    is_made_of_conditions,
    joins_conditions,
    targets_of,
)
from .rules import REPORTS, BreakContext, BreakRules, Change, RemedyTemplate, Rule
from .selections import BRANCH, DATA_DEPENDENT, NOT_KNOWN, SELECTIONS, selected_by_a_mask

_ASSERT = re.compile(r"^\s*assert\b")
WHILE = re.compile(r"^\s*while\b")
_APPENDS = re.compile(r"\s*[\w.]{1,100}\.(?:append|add|extend)\(")
# A condition on one tensor that an object keeps, as a buffer that says whether something was done already.
_FLAG = re.compile(
    r"(?:not )?(?:bool|int)?\(?self(?:\.\w{1,60}){1,4}(?:\[0\]|\.item\(\)){0,2}\)?"
    r"(?: (?:[=!]=|is|>) (?:0|1|True|False))?"
)
_VALUE_OR_BRANCH = re.compile(
    rf"{BRANCH.pattern}|Tensor\.item\(\)|_local_scalar_dense|aten\.(?:equal|allclose|is_nonzero)\b"
)
_ANY_OR_ALL = re.compile(r"^(?!.*is(?:nan|inf|finite)).*\b(?:any|all)\(")
_MASK = re.compile(r"\btorch\.all\((\w{1,60})\)|\b(\w{1,60})\.all\(\)")
_GIVES_NONE = re.compile(r"\s*(?:return(?: None)?|[\w.]{1,100} = None)\s*")
# `best = loss` below `if loss < best`: a loop that keeps the best of what it has met.
_COMPARED = re.compile(r".*?\b([A-Za-z_][\w.]{0,99}) [<>]=? ([A-Za-z_][\w.]{0,99})")
_COUNTS = re.compile(r"\s*[\w.]{1,100}\.\w{1,100} [-+]= |\s*[\w.]{1,100}\.\w{1,100} = (?:\d|True|False|None)")
_SIZE = re.compile(r"\.shape\b|\.size\(|\.numel\(|\blen\(")
_NEGATED = re.compile(r"not (?!.* (?:and|or|in) ).{1,300}")
TO_WHERE = Change(edit="branch to where")


def _raises(break_context: BreakContext) -> bool:
    return bool(break_context.following) and break_context.following[0].lstrip().startswith("raise ")


def _leaves_a_loop(break_context: BreakContext) -> bool:
    """Whether it leaves a loop, or returns where a loop behind it, which asks the same, would go on."""
    first, *_ = map(str.strip, break_context.block or ("",))
    behind = [line.strip() for line in break_context.following[len(break_context.block) :]]
    loops = ("for ", "while ")
    begins = next((at for at, line in enumerate(behind) if line.startswith(loops)), len(behind))
    asked = break_context.parts["condition"]
    is_loops = break_context.loop.startswith(loops) or any(asked in line for line in behind[begins:])
    return first == "break" or (first.startswith("return") and is_loops)


def ends_a_pass(break_context: BreakContext) -> bool:
    return bool(break_context.following) and break_context.following[0].strip() == "continue"


def _asks_for_a_size(break_context: BreakContext) -> bool:
    is_of_a_tensor = "TensorVariable" in break_context.context  # torch's name for what it branches on
    return not is_of_a_tensor and _SIZE.search(break_context.parts["condition"]) is not None


def _keeps_the_best(break_context: BreakContext) -> bool:
    """Whether the branch keeps what it compares, in place of what it is compared with."""
    compared = _COMPARED.match(break_context.parts["condition"])
    first = break_context.block[0] if break_context.block else ""
    return compared is not None and bool({compared[1], compared[2]} & {*targets_of(first)})


def _has_an_effect_on_objects(break_context: BreakContext) -> bool:
    """Whether the branch counts, or puts into a list, beside what it calculates."""
    effects = [_APPENDS.match(line) or _COUNTS.match(line) for line in break_context.block]
    return any(effects) and (not all(effects) or not _APPENDS.match(break_context.block[0]))


def _appends(break_context: BreakContext) -> bool:
    return bool(break_context.following) and _APPENDS.match(break_context.following[0]) is not None


def _only_reports(break_context: BreakContext) -> bool:
    """Whether all that the branch does is to print, log or warn."""
    body = break_context.block
    outer = [line for line in body if indentation(line) == indentation(body[0])]
    return bool(outer) and all(map(REPORTS.match, outer))


def _is_made_of_conditions(break_context: BreakContext) -> bool:
    return is_made_of_conditions(break_context.line)


def _is_made_of_several(break_context: BreakContext) -> bool:
    is_negation = _NEGATED.fullmatch(break_context.parts["condition"]) is not None
    return is_made_of_conditions(break_context.line) and not is_negation


def _begins_with_a_guard(break_context: BreakContext) -> bool:
    line = break_context.line
    return line.lstrip().startswith(("if", "elif")) and begins_with_a_guard(line)


def _has_computed_message(break_context: BreakContext) -> bool:
    return has_computed_message(break_context.line)


def _asks_a_kept_flag(break_context: BreakContext) -> bool:
    return _FLAG.fullmatch(break_context.parts["condition"]) is not None


def _saves_work(break_context: BreakContext) -> bool:
    """Whether the branch asks if there is anything to do, and gives nothing, or None, where there is not."""
    asks = _ANY_OR_ALL.search(break_context.parts["condition"]) is not None
    lines = [*break_context.block, *break_context.following[len(break_context.block) :][:2]]
    return asks and any(map(_GIVES_NONE.fullmatch, lines))


def _saves_a_selection(break_context: BreakContext) -> bool:
    """Whether the branch asks if a mask holds everywhere, and selects by it elsewhere."""
    asked = _MASK.search(break_context.parts["condition"])
    mask = next(filter(None, asked.groups()), None) if asked else None
    selects = re.compile(rf"\[(?:[^\[\]]{{0,60}}, )?{re.escape(mask or '')}\]")
    return mask is not None and any(map(selects.search, break_context.following))


def behind_a_guard(
    reason: re.Pattern[str], leaving_out: str = "", *, cures: str, not_for: tuple[str, ...] = ()
) -> Rule[BreakContext]:
    """What to do with a condition that begins with what Python knows, as `x is not None and …`."""
    return Rule(
        reason,
        "which way `{branch}` goes depends on what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave the first part of `{condition}`, which Python knows, in the `if`. Inside it calculate "
                f"both for the rest of it{leaving_out} and choose, `torch.where(condition, then, else)`, for "
                "each value that the branches change{careful}.",
                cures=(cures,),
                change=TO_WHERE,
                not_for=not_for,
            ),
        ),
        when=_begins_with_a_guard,
    )


def compile_the_body(cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "compile what the loop repeats, not the loop: make its body a function, give that one to "
        "`torch.compile`, and leave `{line}` to Python.",
        cures=(cures,),
    )


def is_called_for_its_effect(break_context: BreakContext) -> bool:
    """Whether the line's function is called in the graph by a line that is nothing but the call."""
    is_inside = break_context.is_called_inside and not _asks_a_kept_flag(break_context)
    return is_inside and is_call_alone(break_context.caller)


# `if step % 100 == 0:`, of a number that is counted in each call.
_NOW_AND_THEN = re.compile(r"(?:el)?if .{0,200}\w\)? ?% ?.{0,100}\w")


def _reports_now_and_then(break_context: BreakContext) -> bool:
    is_report = REPORTS.match(break_context.line) is not None
    return is_report and _NOW_AND_THEN.match(break_context.around) is not None


def names_that_decide_a_report(break_context: BreakContext) -> frozenset[str]:
    """The names that decide when the line prints or logs; none for a line that does so always."""
    if not _reports_now_and_then(break_context):
        return frozenset()
    return frozenset(re.findall(r"[^\W\d]\w{0,99}", break_context.around)) - {"if", "elif", "self"}


_CALLER_TAKEN_OUT = RemedyTemplate[BreakContext](
    "take `{caller}` out of the compiled code: do it after the call of `{function}`, on what that returns; "
    "where later lines need what it does, end the compiled function in front of it, and compile what comes "
    "after it as a function of its own.",
    cures=(
        "best_so_far",
        "dead_codes_replaced",
        "queue_of_keys",
        "confusion_in_numpy",
        "histogram_of_activations",
        "features_dumped",
        "memory_logged",
        "probabilities_checked",
    ),
    change=Change(edit="compiled around its function"),
)
CALLED_FOR_ITS_EFFECT = Rule[BreakContext](
    sentence="`{caller}`, whose result nobody uses, leads to what torch does not trace (`{line}`)",
    remedies=(_CALLER_TAKEN_OUT,),
    when=is_called_for_its_effect,
)
FOR_ITS_EFFECT: BreakRules = (
    Rule(
        sentence="`{line}` is for some calls only, which `{around}` counts; neither is part of a graph",
        remedies=(
            RemedyTemplate(
                "take `{around}`, with what is in it and what it counts, out of the compiled code: count and "
                "report after the call of `{function}`, with what that returns.",
                cures=("loss_every_ten_steps", "calls_reported_now_and_then"),
            ),
        ),
        when=_reports_now_and_then,
    ),
    Rule(
        re.compile(rf"{_VALUE_OR_BRANCH.pattern}|Tensor\.tolist\(\)|Dynamic shape operator|numpy function"),
        "`{caller}`, whose result nobody uses, asks what a tensor holds (`{line}`), " + NOT_KNOWN,
        (_CALLER_TAKEN_OUT,),
        when=is_called_for_its_effect,
    ),
)
_ASSERTS: BreakRules = (
    Rule(
        BRANCH,
        "the message of this assert is made of values, so that torch cannot keep the assert in the graph and "
        "takes it for a branch on what a tensor holds",
        (
            RemedyTemplate(
                'give the assert constant text as its message, `assert {condition}, "…"`: then it stays in '
                "the graph. What keeps it out is a message that is made (an f-string, `%`, `.format`).",
                cures=("assert_with_f_string",),
                change=Change(edit="assert with a constant message"),
                may_change="the message of an assert that fails has no values in it",
            ),
        ),
        line=_ASSERT,
        when=_has_computed_message,
    ),
    Rule(
        BRANCH,
        "`and`, `or` and `not` in this assert are branches on what a tensor holds",
        (
            RemedyTemplate(
                "make one condition of `{condition}`: `torch.logical_and(a, b)` for `a and b`, "
                "`torch.logical_or` for `or`, `torch.logical_not(a)` for `not a`. Then it stays in the "
                "graph.",
                cures=("assert_of_two_values",),
                change=Change(edit="assert of one condition"),
            ),
        ),
        line=_ASSERT,
        when=_is_made_of_conditions,
    ),
    Rule(
        BRANCH,
        "what this assert tests is no tensor that torch could test in the graph, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "move the assert out of the compiled code, in front of the call of `{function}` or after it.",
                cures=("error_raised_on_a_value",),
            ),
        ),
        line=_ASSERT,
    ),
)
_BRANCHES: BreakRules = (
    Rule(
        BRANCH,
        "`and` and `or` in `{line}` are branches on what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "write `&` for `and`, `|` for `or`, `torch.logical_not(…)` for `not`, with each side in "
                "brackets: all of them are asked then, and what comes of it is a tensor.",
                cures=("bounds_joined_by_and",),
                change=Change(edit="conditions as one"),
            ),
        ),
        when=lambda break_context: joins_conditions(break_context.line),
    ),
    Rule(
        BRANCH,
        "how often the loop runs depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (compile_the_body("while_on_a_value"),),
        line=WHILE,
    ),
    Rule(
        _VALUE_OR_BRANCH,
        "whether an exception is raised depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "move `if {condition}: raise …` out of the compiled code: return what it asks for as well, "
                "and check that after the call of `{function}`; or before it, where the caller has it.",
                cures=("error_raised_on_a_value", "not_finite_is_raised"),
            ),
        ),
        line=re.compile(r"^\s*(?:if|elif)\b"),
        when=_raises,
    ),
    Rule(
        _VALUE_OR_BRANCH,
        "`{branch}` asks a tensor that the object keeps, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "keep `{kept}` as a value of Python's in place of a tensor (`{kept} = False`, and "
                "`{kept} = True` in place of `.fill_(True)`), also where it is read: torch then compiles a "
                "version for each value. A `state_dict` has it by `get_extra_state`.",
                cures=("codebook_initialised_once", "observer_switched_by_buffer"),
                change=Change(edit="flag kept in Python"),
                may_change="the `state_dict` has no such buffer",
            ),
        ),
        line=re.compile(r"^\s*(?:if|elif)\b"),
        when=_asks_a_kept_flag,
    ),
    Rule(
        BRANCH,
        "whether rows are selected depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave out the check, and select in every call: a mask that is true everywhere selects all. "
                "With `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1` in the environment the selection is "
                "part of the graph.",
                cures=("coalesced_edges",),
            ),
        ),
        when=_saves_a_selection,
    ),
    Rule(
        BRANCH,
        "whether there is anything to do depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave out the check of what the tensor holds, and do in every call what is done where "
                "there is something to do, if it gives the same then: a mask that hides nothing changes "
                "nothing.",
                cures=("mask_skipped_when_full",),
            ),
        ),
        when=_saves_work,
    ),
    Rule(
        BRANCH,
        "whether something is printed or logged depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "move `if {condition}: …` out of the compiled code: return what it tests, and print "
                "after the call of `{function}`.",
                cures=("message_for_a_value",),
            ),
        ),
        when=_only_reports,
    ),
    Rule(
        BRANCH,
        "which way `{branch}` goes depends on how much a condition on tensors selects, " + NOT_KNOWN,
        (selected_by_a_mask("if_on_a_selection"),),
        when=_asks_for_a_size,
    ),
    Rule(
        BRANCH,
        "whether a pass of the loop ends here depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate the rest of the pass always, and choose: `torch.where({tensor_condition}, old, "
                "new)`, for each value that it changes.",
                cures=("pass_that_is_ended", "layer_dropped_at_random"),
            ),
        ),
        when=ends_a_pass,
    ),
    Rule(
        BRANCH,
        "whether the loop runs, and how often, depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "compile what the loop repeats, not the loop: make a function of what stands in front of "
                "`if {condition}`, give that one to `torch.compile`, and leave the loop to Python.",
                cures=(
                    "loop_that_is_left",
                    "generate_until_all_end",
                    "episode_until_done",
                    "jitter_until_positive",
                ),
            ),
        ),
        when=_leaves_a_loop,
    ),
    *SELECTIONS,
    Rule(
        BRANCH,
        "what a loop keeps as the best so far depends on what tensors hold (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate all of them, without the branch, and choose behind the loop: `every = "
                "torch.stack([…])`, then `every.min()` (or `max`), and what belongs to it by an index, as a "
                "tensor: `others.index_select(0, every.argmin().reshape(1))[0]`.",
                cures=("matcher_in_numpy", "permutation_invariant"),
            ),
        ),
        when=_keeps_the_best,
    ),
    Rule(
        _VALUE_OR_BRANCH,
        "`{branch}` asks what a tensor holds, " + NOT_KNOWN + "; and the branch changes what Python keeps",
        (
            RemedyTemplate(
                "return `{tensor_condition}` as well, and do what changes Python's objects (counters, flags, "
                "lists) after the call of `{function}`, where it is true; what changes tensors is chosen by "
                "`torch.where({tensor_condition}, then, else)`.",
                cures=("skipped_batches", "stopped_by_a_gate"),
            ),
        ),
        line=re.compile(r"^\s*(?:el)?if\b"),
        when=_has_an_effect_on_objects,
    ),
    Rule(
        BRANCH,
        "what is put into a list depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "compute the condition for all of them at once, as a tensor of True and False; return it "
                "beside them, and take those that are wanted (`values[mask]`) after the call of "
                "`{function}`.",
                cures=("rows_kept_by_value",),
            ),
        ),
        when=_appends,
    ),
    behind_a_guard(
        BRANCH,
        cures="mask_that_may_be_none",
        not_for=("error_raised_on_a_value", "loop_that_is_left", "and_of_two_values"),
    ),
    Rule(
        BRANCH,
        "which way `{branch}` goes depends on what tensors hold, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate both and choose, `torch.where(condition, then, else)`, for each value that the "
                "branches change; in `{condition}` write `&` for `and`, `|` for `or`, `~` for `not`, with "
                "each side in brackets, and `==` or `torch.isin` for `in`{careful}.",
                cures=("and_of_two_values",),
                change=TO_WHERE,
                not_for=("error_raised_on_a_value", "loop_that_is_left", "mask_that_may_be_none"),
            ),
        ),
        when=_is_made_of_several,
    ),
    Rule(
        BRANCH,
        "which way `{branch}` goes depends on what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate both and choose, `torch.where({tensor_condition}, then, else)`, for each value "
                "that the branches change; where one of them must not be calculated, use "
                "`torch.cond`{careful}.",
                cures=(
                    "branch_on_a_value",
                    "rope_grown_by_positions",
                    "clipped_in_the_backward",
                    "branch_on_a_negation",
                ),
                change=TO_WHERE,
                not_for=("error_raised_on_a_value", "loop_that_is_left"),
            ),
        ),
    ),
)
# By a number that `.item()` has taken out of a tensor; without `fullgraph=True` the graph breaks there.
_BY_A_NUMBER: BreakRules = (
    Rule(
        DATA_DEPENDENT,
        "which way `{branch}` goes depends on a number that a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate both and choose, `torch.where(condition, then, else)`, with the tensor in place "
                "of the number in `{condition}`, without `.item()`; where the condition always holds, say "
                "so before it: `torch._check({condition})`.",
                cures=("branch_on_an_item_in_one_graph",),
            ),
        ),
        line=re.compile(r"^\s*(?:if|elif)\b"),
    ),
)
TABLE = (*_ASSERTS, *_BY_A_NUMBER, *_BRANCHES)
