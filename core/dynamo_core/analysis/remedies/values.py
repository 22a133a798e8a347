"""Remedies where the program needs to know, while it is compiled, what a tensor holds.

Source: torch/_dynamo/symbolic_convert.py (generic_jump), torch/_dynamo/variables/tensor.py (item, tolist),
torch/_subclasses/fake_impls.py (operators with outputs that depend on data); read with 2.13, their names with
2.8 to 2.15 (torch/_dynamo/graph_break_registry.json).
"""

import re

from .advice import Assignment, Change
from .line_parts import has_made_message, is_of_several_conditions
from .situation import Situation
from .treatment import Treatment

_BRANCH = re.compile(r"Data-dependent branching|generic_jump|Data-dependent jump|data-dependent branching")
_VALUE = re.compile(r"Tensor\.item\(\)|Tensor\.tolist\(\)|_local_scalar_dense")
_SHAPE = re.compile(r"Dynamic shape operator\n")
_ASSERT = re.compile(r"^\s*assert\b")
_TO_WHERE = Change(edit="branch to where")
_SCALARS = Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "1"),))
_SHAPES = Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", "1"),))

_BRANCHES = (
    "which way `{condition}` goes depends on what a tensor holds, and that is not known while the function is "
    "compiled"
)
_TAKEN_OUT = "`{line}` takes a value out of a tensor, which is not known while the function is compiled"
_SIZED = "how large the result of `{line}` is depends on what a tensor holds, not on its shape alone"


def _raises(situation: Situation) -> bool:
    return bool(situation.following) and situation.following[0].lstrip().startswith("raise ")


def _is_of_several(situation: Situation) -> bool:
    return is_of_several_conditions(situation.line)


def _has_made_message(situation: Situation) -> bool:
    return has_made_message(situation.line)


def _is_branched_on_next(situation: Situation) -> bool:
    return situation.is_branched_on_next


TABLE = (
    Treatment(
        _BRANCH,
        'give the assert a plain string as its message, `assert {condition}, "…"`: then it stays in the graph; a '
        "message that is made (an f-string, `%`, `.format`) is what keeps it out.",
        shown_by="assert_with_f_string",
        cause="the message of this assert is made of values, so that torch cannot keep the assert in the graph "
        "and takes it for a branch on what a tensor holds",
        line=_ASSERT,
        when=_has_made_message,
        change=Change(edit="assert with a constant message"),
        may_change="the message, where the assert fails, has no values in it",
    ),
    Treatment(
        _BRANCH,
        "make one condition of it, `torch.logical_and(a, b)` in place of `a and b` (`torch.logical_or` for `or`), or "
        "an assert of each: then it stays in the graph.",
        shown_by="assert_of_two_values",
        cause="`and` and `or` in this assert are branches on what a tensor holds",
        line=_ASSERT,
        when=_is_of_several,
    ),
    Treatment(
        _BRANCH,
        "move the check out of the compiled code, in front of the call of `{function}` or behind it; or use "
        "`torch._assert({condition}, …)` where a RuntimeError will do.",
        shown_by="assert_with_f_string",
        cause="what this assert tests is not known while the function is compiled",
        line=_ASSERT,
    ),
    Treatment(
        _BRANCH,
        "compile what the loop repeats, not the loop: make its body a function, give that to `torch.compile`, "
        "and leave `while {condition}` to Python.",
        shown_by="while_on_a_value",
        cause="how often the loop runs depends on what a tensor holds (`{condition}`), and that is not known while "
        "the function is compiled",
        line=re.compile(r"^\s*while\b"),
    ),
    Treatment(
        _BRANCH,
        "move `if {condition}: raise …` out of the compiled code: behind the call of `{function}`, on what it "
        "returns, or in front of it.",
        shown_by="error_raised_on_a_value",
        cause=_BRANCHES,
        when=_raises,
    ),
    Treatment(
        _BRANCH,
        "calculate both and choose: `torch.where(condition, then, else)` for each value that the branches "
        "change; in the condition `{condition}` write `&` for `and`, `|` for `or`.",
        shown_by="and_of_two_values",
        cause=_BRANCHES,
        when=_is_of_several,
        change=_TO_WHERE,
        not_for=("error_raised_on_a_value", "while_on_a_value"),
    ),
    Treatment(
        _BRANCH,
        "calculate both and choose: `torch.where({tensor_condition}, then, else)` for each value that the "
        "branches change; where one of them must not be calculated, `torch.cond`.",
        shown_by="branch_on_a_value",
        cause=_BRANCHES,
        change=_TO_WHERE,
        not_for=("error_raised_on_a_value", "while_on_a_value"),
    ),
    Treatment(
        _VALUE,
        "do not take the value out: calculate both and choose, `torch.where({tensor_condition}, then, else)`, for "
        "each value that the branches change.",
        shown_by="item_then_branch",
        cause=_BRANCHES,
        line=re.compile(r"^\s*(?:if|elif)\b|\bif\b.{1,200}\belse\b"),
    ),
    Treatment(
        _VALUE,
        "keep `{target}` a tensor (leave off `.item()`), and in place of the branch on it choose with "
        "`torch.where(condition, then, else)`.",
        shown_by="item_kept_then_branch",
        cause="`{line}` takes a value out of a tensor, and a branch depends on it; neither is known while the "
        "function is compiled",
        when=_is_branched_on_next,
        not_for=("item",),
    ),
    Treatment(
        _VALUE,
        "compile what the loop repeats, not the loop: make its body a function, give that to `torch.compile`, "
        "and leave `while {condition}` to Python.",
        shown_by="while_on_an_item",
        cause="how often the loop runs depends on what a tensor holds, and that is not known while the function "
        "is compiled",
        line=re.compile(r"^\s*while\b"),
    ),
    Treatment(
        _VALUE,
        "make the text behind the call of `{function}`: return the tensor, and format it there.",
        shown_by="item_in_text",
        cause="text is made of what a tensor holds, which is not known while the function is compiled",
        line=re.compile(r"\bf['\"]|\.format\(|['\"] % |\bstr\(|\brepr\("),
    ),
    Treatment(
        _VALUE,
        "set `TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` in the environment (or "
        "`torch._dynamo.config.capture_scalar_outputs = True` before the first call): then taking the value out "
        "is part of the graph.",
        shown_by="item",
        cause=_TAKEN_OUT,
        change=_SCALARS,
        not_for=("item_then_branch", "item_kept_then_branch", "while_on_an_item", "item_in_text"),
    ),
    Treatment(
        _VALUE,
        "leave off `.item()` and calculate with the tensor.",
        shown_by="item_then_branch",
        cause=_TAKEN_OUT,
        line=re.compile(r"\.item\(\)"),
        change=Change(edit="item kept a tensor"),
    ),
    Treatment(
        re.compile(r"Tensor\.tolist\(\) with non-integer"),
        "keep it a tensor: index it (`x[0]`) in place of `.tolist()`, or make the list behind the call.",
        shown_by="tolist_of_floats",
        cause="`{line}` makes a list of what a tensor holds, which is not known while the function is compiled",
    ),
    Treatment(
        re.compile(r"aten\.(?:equal|allclose|is_nonzero)\b"),
        "compare in the graph and choose there: `torch.where((a == b).all(), then, else)` in place of a branch on "
        "`{call}`.",
        shown_by="equal_tensors",
        cause="`{call}` is true or false by what the tensors hold, which is not known while the function is "
        "compiled",
    ),
    Treatment(
        _SHAPE,
        "set `TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1` in the environment (or "
        "`torch._dynamo.config.capture_dynamic_output_shape_ops = True` before the first call): then the "
        "operator is part of the graph.",
        shown_by="unique",
        cause=_SIZED,
        change=_SHAPES,
    ),
    Treatment(
        re.compile(r"Dynamic shape operator"),
        "use an operator whose output size is known: a mask and `torch.where`, or `torch.topk`, in place of "
        "`{call}`.",
        shown_by="boolean_mask",
        cause=_SIZED,
    ),
)
