"""Causes: the program needs the values of a tensor at compile time (branches, `.item()`, dynamic sizes).

Source: torch/_dynamo/symbolic_convert.py (generic_jump), torch/_dynamo/variables/tensor.py (item, tolist),
torch/_subclasses/fake_impls.py (operators with outputs that depend on data); read with 2.13, their names with
2.8 to 2.15 (torch/_dynamo/graph_break_registry.json).
"""

import re
from itertools import takewhile

from ..analysis.source_lines import has_computed_message, is_made_of_conditions
from .rules import Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

_BRANCH = re.compile(r"[Dd]ata-dependent branching|generic_jump|Data-dependent jump")
_VALUE = re.compile(r"Tensor\.item\(\)|_local_scalar_dense")
_PRINTS_A_VALUE = re.compile(r"^\s*print\(.{0,200}(?:\.item|\.tolist|\.numpy)\(\)")
_ASSERT = re.compile(r"^\s*assert\b")
_WHILE = re.compile(r"^\s*while\b")
_APPENDS = re.compile(r"\s*[\w.]{1,100}\.(?:append|add|extend)\(")
_REPORTS = re.compile(r"\s*(?:print|[\w.]{0,60}(?:log|warn)\w{0,20}(?:\.\w{1,20})?)\(")
_SIZE = re.compile(r"\.shape\b|\.size\(|\.numel\(|\blen\(")
_TO_WHERE = Change(edit="branch to where")
_MAY_END = "an operator behind it that has to know the sizes ends the program with an error"
_NOT_KNOWN = "and that is not known while the function is compiled"


def _raises(break_context: BreakContext) -> bool:
    return bool(break_context.following) and break_context.following[0].lstrip().startswith("raise ")


def _leaves_a_loop(break_context: BreakContext) -> bool:
    return bool(break_context.following) and break_context.following[0].strip() == "break"


def _ends_a_pass(break_context: BreakContext) -> bool:
    return bool(break_context.following) and break_context.following[0].strip() == "continue"


def _asks_for_a_size(break_context: BreakContext) -> bool:
    is_of_a_tensor = "TensorVariable" in break_context.context  # torch's name for what it branches on
    return not is_of_a_tensor and _SIZE.search(break_context.parts["condition"]) is not None


def _is_looped_over(break_context: BreakContext) -> bool:
    return break_context.is_looped_over


def _appends(break_context: BreakContext) -> bool:
    return bool(break_context.following) and _APPENDS.match(break_context.following[0]) is not None


def _only_reports(break_context: BreakContext) -> bool:
    """Whether all that the branch does is to print, log or warn."""
    lines = [line for line in break_context.following if line.strip()]
    depth = _indentation(lines[0]) if lines else 0
    body = list(takewhile(lambda line: _indentation(line) >= depth, lines))
    return bool(body) and all(_REPORTS.match(line) for line in body if _indentation(line) == depth)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_made_of_conditions(break_context: BreakContext) -> bool:
    return is_made_of_conditions(break_context.line)


def _has_computed_message(break_context: BreakContext) -> bool:
    return has_computed_message(break_context.line)


def _is_branched_on_next(break_context: BreakContext) -> bool:
    return break_context.is_branched_on_next


def _compile_the_body(cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "compile what the loop repeats, not the loop: make its body a function, give that one to "
        "`torch.compile`, and leave `while {condition}` to Python.",
        cures=(cures,),
    )


def _selected_by_a_mask(cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "do not select rows: keep all of them, with a mask that is 0 for those that are not wanted, "
        "`(x * mask[:, None]).sum(0) / mask.sum()` in place of `x[mask].mean(0)`; and in place of the branch "
        "choose, `torch.where(mask.any(), then, else)`.",
        cures=(cures,),
    )


def _as_part_of_the_graph(*cures: str, may_change: str = "") -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "set `TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` in the environment (or "
        "`torch._dynamo.config.capture_scalar_outputs = True` before the first call): then taking the "
        "value out is part of the graph.",
        cures=cures,
        change=Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "1"),)),
        may_change=may_change,
        not_for=(
            "item_then_branch",
            "item_kept_then_branch",
            "while_on_an_item",
            "item_in_text",
            "range_over_a_tensor",
        ),
    )


_ASSERTS: BreakRules = (
    Rule(
        _BRANCH,
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
        _BRANCH,
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
        _BRANCH,
        "what this assert tests is no tensor that torch could test in the graph, " + _NOT_KNOWN,
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
        _BRANCH,
        "how often the loop runs depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
        (_compile_the_body("while_on_a_value"),),
        line=_WHILE,
    ),
    Rule(
        _BRANCH,
        "whether an exception is raised depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "move `if {condition}: raise …` out of the compiled code: after the call of `{function}`, "
                "on what it returns, or in front of it.",
                cures=("error_raised_on_a_value",),
            ),
        ),
        when=_raises,
    ),
    Rule(
        _BRANCH,
        "whether something is printed or logged depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
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
        _BRANCH,
        "which way `{branch}` goes depends on how much a condition on tensors selects, " + _NOT_KNOWN,
        (_selected_by_a_mask("if_on_a_selection"),),
        when=_asks_for_a_size,
    ),
    Rule(
        _BRANCH,
        "whether a pass of the loop ends here depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate the rest of the pass always, and choose: `torch.where({tensor_condition}, old, "
                "new)`, for each value that it changes.",
                cures=("pass_that_is_ended", "layer_dropped_at_random"),
            ),
        ),
        when=_ends_a_pass,
    ),
    Rule(
        _BRANCH,
        "how often the loop runs depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "compile what the loop repeats, not the loop: make a function of what stands in front of "
                "`if {condition}`, give that one to `torch.compile`, and leave the loop to Python.",
                cures=("loop_that_is_left",),
            ),
        ),
        when=_leaves_a_loop,
    ),
    Rule(
        _BRANCH,
        "what is put into a list depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
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
    Rule(
        _BRANCH,
        "which way `{branch}` goes depends on what tensors hold, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate both and choose, `torch.where(condition, then, else)`, for each value that the "
                "branches change; in `{condition}` write `&` for `and`, `|` for `or`, `~` for `not`, with "
                "each side in brackets, and `==` or `torch.isin` for `in`{careful}.",
                cures=("and_of_two_values",),
                change=_TO_WHERE,
                not_for=("error_raised_on_a_value", "loop_that_is_left", "assert_of_two_values"),
            ),
        ),
        when=_is_made_of_conditions,
    ),
    Rule(
        _BRANCH,
        "which way `{branch}` goes depends on what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate both and choose, `torch.where({tensor_condition}, then, else)`, for each value "
                "that the branches change; where one of them must not be calculated, use "
                "`torch.cond`{careful}.",
                cures=("branch_on_a_value", "rope_grown_by_positions"),
                change=_TO_WHERE,
                not_for=("error_raised_on_a_value", "loop_that_is_left", "branch_on_a_negation"),
            ),
        ),
    ),
)
_VALUES: BreakRules = (
    # The call that takes the value, the text that is made of it, and the print: three breaks of one line.
    Rule(
        re.compile(rf"{_VALUE.pattern}|BUILD_STRING|builtin operator `print`"),
        "`{line}` prints what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: return the tensor, and print after the call of "
                "`{function}`.",
                cures=("item_printed",),
            ),
        ),
        line=_PRINTS_A_VALUE,
    ),
    Rule(
        _VALUE,
        "which way `{branch}` goes depends on what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "do not take the value out: calculate both and choose, `torch.where({tensor_condition}, "
                "then, else)`, for each value that the branches change{careful}.",
                cures=("item_then_branch",),
                change=_TO_WHERE,
            ),
        ),
        line=re.compile(r"^\s*(?:if|elif)\b|\bif\b.{1,200}\belse\b"),
    ),
    Rule(
        _VALUE,
        "`{line}` takes a value out of a tensor, and a branch depends on it, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "keep `{target}` a tensor (leave out `.item()`), and in place of the branch choose with "
                "`torch.where(condition, then, else)`.",
                cures=("item_kept_then_branch", "item_returned_to_a_branch"),
            ),
        ),
        when=_is_branched_on_next,
    ),
    Rule(
        _VALUE,
        "how often the loop runs depends on what a tensor holds (`{branch}`), " + _NOT_KNOWN,
        (_compile_the_body("while_on_an_item"),),
        line=_WHILE,
    ),
    Rule(
        _VALUE,
        "how often a loop runs depends on what a tensor holds (`{line}`), " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "pass the number to `{function}` as a Python int: take it out of the tensor before the call.",
                cures=("range_over_a_tensor", "mask_up_to_the_longest"),
                may_change="each number is compiled again",
            ),
        ),
        when=lambda break_context: break_context.counts_a_loop,
    ),
    Rule(
        _VALUE,
        "text is made of what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "make the text after the call of `{function}`: return the tensor, and format it there.",
                cures=("item_in_text",),
            ),
        ),
        line=re.compile(r"\bf['\"]|\.format\(|['\"] % |\bstr\(|\brepr\("),
    ),
    Rule(
        _VALUE,
        "`{line}` checks a value that it takes out of a tensor, " + _NOT_KNOWN,
        (_as_part_of_the_graph("check_of_an_item"),),
        line=re.compile(r"\btorch\._check\w{0,20}\("),
    ),
    Rule(
        _VALUE,
        "`{line}` makes a list of what a tensor holds, " + _NOT_KNOWN,
        (
            _as_part_of_the_graph("split_by_counts", "tolist_of_lengths", may_change=_MAY_END),
            RemedyTemplate(
                "make the list before the call of `{function}`, and pass it in: needed where an operator "
                "behind it has to know the sizes, since the setting then ends the program with an error.",
                cures=("split_by_counts",),
                may_change="each list is compiled again, until torch takes its numbers as dynamic",
            ),
        ),
        line=re.compile(r"\.tolist\(\)"),
    ),
    Rule(
        _VALUE,
        "`{line}` takes a value out of a tensor, " + _NOT_KNOWN,
        (
            _as_part_of_the_graph("item", "number_of_nodes", "slice_by_a_length"),
            RemedyTemplate(
                "leave out `.item()` (or `float`, `int`), and calculate with the tensor.",
                cures=("item",),
                not_for=("check_of_an_item",),
                change=Change(edit="item kept a tensor"),
            ),
        ),
    ),
    Rule(
        re.compile(r"Tensor\.tolist\(\)"),
        "`{line}` makes a list of what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "keep it a tensor: `x[0]` or `x.unbind()` in place of `.tolist()`; torch.sort, torch.max in "
                "place of Python's; or make the list after the call of `{function}`.",
                cures=("tolist_of_floats",),
            ),
        ),
    ),
    Rule(
        re.compile(r"aten\.(?:equal|allclose|is_nonzero)\b"),
        "`{call}` is true or false by what the tensors hold, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "compare in the graph, `same = (a == b).all()` (of `allclose`: `torch.isclose(a, b).all()`, "
                "with its tolerances), and choose there, `torch.where(same, then, else)`; or return `same`, "
                "and test it after the call of `{function}`.",
                cures=("equal_tensors",),
            ),
        ),
    ),
    Rule(
        re.compile(r"builtin operator `sorted`"),
        "`{line}` sorts by what a tensor holds, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "sort it in the graph: `torch.sort(x).values` in place of `sorted(x)`.",
                cures=("sorted_tensor",),
            ),
        ),
    ),
    Rule(
        re.compile(r"sort with non-constant keys"),
        "`{line}` sorts numbers that are others in each call, and their order is not known while the "
        "function is compiled",
        (
            RemedyTemplate(
                "sort them before the call of `{function}`, and pass in what is sorted.",
                cures=("sorted_numbers",),
            ),
        ),
        when=lambda break_context: "SymNodeVariable" in break_context.context,
    ),
    Rule(
        re.compile(r"sort with non-constant keys"),
        "`{line}` sorts a list by values of tensors, " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "sort it in the graph: make one tensor of the list, `together = torch.stack(...)`, "
                "and of the keys another one, `keys`; then `together[keys.argsort(stable=True)]` has it in "
                "order; `descending=True` reverses that.",
                cures=("sorted_by_a_value",),
            ),
        ),
    ),
)
_SIZED = "how large a tensor on this line becomes depends on what another one holds: `{line}`"
_OF_KNOWN_SIZE: RemedyTemplate[BreakContext] = RemedyTemplate(
    "use what has a known size in its place: a mask and `torch.where`, or `torch.topk`.",
    cures=("boolean_mask",),
)
_SIZES: BreakRules = (
    Rule(
        re.compile(r"Dynamic shape operator|Could not extract specialized integer from data-dependent"),
        "how often a loop runs depends on what a tensor holds (`{line}`), " + _NOT_KNOWN,
        (
            RemedyTemplate(
                "do not loop over what was found: calculate for all of them at once, with a mask of those "
                "that are wanted, `torch.where(mask, new, 0)`.",
                cures=("loop_over_hits",),
            ),
        ),
        when=_is_looped_over,
    ),
    Rule(
        re.compile(r"Dynamic shape operator"),
        _SIZED,
        (_selected_by_a_mask("selection_then_branch"),),
        when=_is_branched_on_next,
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
        re.compile(r"Dynamic shape operator\n"),
        _SIZED,
        (
            RemedyTemplate(
                "set `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1` in the environment (or "
                "`torch._dynamo.config.capture_dynamic_output_shape_ops = True` before the first call): then "
                "the operator is part of the graph.",
                cures=(
                    "unique",
                    "counted_values",
                    "index_of_a_timestep",
                    "repeated_by_durations",
                    "tokens_of_an_expert",
                ),
                change=Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", "1"),)),
                not_for=("loop_over_hits", "selection_then_branch"),
            ),
            _OF_KNOWN_SIZE,
        ),
    ),
    Rule(re.compile(r"Dynamic shape operator"), _SIZED, (_OF_KNOWN_SIZE,)),
)
TABLE = (*_ASSERTS, *_BRANCHES, *_VALUES, *_SIZES)
