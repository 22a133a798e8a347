"""Causes: the program takes values out of tensors (`.item()`, lists, text).

Source: torch/_dynamo/variables/tensor.py (item, tolist); read with 2.13, names with 2.8 to 2.15
(torch/_dynamo/graph_break_registry.json).
"""

import re

from ..analysis.source_lines import call_on, targets_of
from .branches import TO_WHERE, WHILE, behind_a_guard, compile_the_body
from .rules import INDEX_BY_A_NAME, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule
from .selections import NOT_KNOWN

_VALUE = re.compile(r"Tensor\.item\(\)|_local_scalar_dense")
_REPORTS_A_VALUE = re.compile(
    r"^\s*(?:print|[\w.]{0,60}\blog\w{0,20}\.(?:debug|info|warning|error|critical|log)|warnings\.warn)"
    r"\(.{0,200}(?:(?:\.item|\.tolist|\.numpy)\(\)|\b(?:float|int|bool)\()"
)
_TAKES_A_VALUE = re.compile(r"\.item\(|\b(?:int|float)\(")
# A statement that calls something with the value, other than to put it into a list or a tensor.
_IS_GIVEN = re.compile(r"^\s*(?![\w.]*(?:\.(?:append|extend|add)|_)\()[\w.]{1,99}\(.{0,300}\.item\(\)")
# What a method of another object is given, for work of Python's; `split`, `view` and the like are torch's.
_IS_WORKED_ON = re.compile(
    r"\bself(?:\.\w{1,60}){2,4}(?<!split)(?<!view)(?<!reshape)(?<!expand)(?<!narrow)(?<!embed)\([^()]{0,200}"
    r"\.(?:tolist|item)\(\)"
    r"|\b(?:Counter|set|frozenset|tuple|sorted|dict|bisect\w{0,20}|heapq\.\w{1,20})\([^()]{0,200}\.(?:tolist|item)\(\)"
)
_ROWS = re.compile(r"^\s*for (\w{1,100}) in \S{1,200}\.tolist\(\):")
_ASKS_A_TENSOR = re.compile(r"\.(?:numel|any|all|sum|item|size|shape|max|min)\b|\blen\(")
_BY_A_KEY = re.compile(r"\b(?:max|min)\(.{1,200}\bkey=")
# `[names[i] for i in index.tolist()]`, in a list or a dictionary of Python's, say.
_LOOKS_UP = re.compile(r"\[(\w{1,60})\].{0,60} for \1 in .{1,200}\.tolist\(\)|\[[^\[\]]{1,100}\.item\(\)\]")
_OWN_INDEX = re.compile(r"[\w\])]\[[^\[\]:]{0,100}(?:\.item\(\)|\bint\()")
_FILLS = re.compile(r"\b(?:new_full|full_like)\(")
# Functions of numbers, which torch has for tensors; most break the graph with a number of it (run with 2.13).
_FUNCTIONS = "exp exp2 expm1 log log10 log1p log2 cos cosh sin sinh tan tanh sqrt pow"
_OF_NUMBERS = frozenset(_FUNCTIONS.split())
_SIZES_BY_NUMPY = re.compile(
    r"\b(?:np|numpy)\.(?:prod|ceil|floor|sqrt|log2|log|log10|exp)\(.{0,200}(?:\.shape\b|\.size\(|\blen\()"
)
_TEXT = re.compile(r"\bf['\"]|\.format\(|['\"]\.join\(|['\"] % |\bstr\(|\brepr\(")
_KEY = re.compile(r"\[f?(?:'[^']{0,200}'|\"[^\"]{0,200}\")\]")
_KEPT = re.compile(r"\s*(?P<name>self(?:\.\w{1,60}){1,4}) (?P<sign>[-+*/]?)= (?P<value>.{1,300})")
LOOP_LEFT_TO_PYTHON = RemedyTemplate[BreakContext](
    "leave `{loop}` to Python: end the compiled function in front of it, and compile what comes before it, "
    "and what comes after it, as functions of their own.",
    cures=("greedy_suppression", "nodes_reached_step_by_step"),
)
_MAY_END = "an operator behind it that has to know the sizes ends the program with an error"


def _is_branched_on_next(break_context: BreakContext) -> bool:
    return break_context.is_branched_on_next


def _chooses_by_a_key(break_context: BreakContext) -> bool:
    return any(map(_BY_A_KEY.search, (break_context.line, break_context.caller)))


def _is_in_a_loop_that_tensors_end(break_context: BreakContext) -> bool:
    loop = break_context.loop
    return loop.startswith("while ") and _ASKS_A_TENSOR.search(loop) is not None


def _is_given_to_math(break_context: BreakContext) -> bool:
    """Whether a function of `math` or numpy takes the value out, or is given what `.item()` takes out."""
    call = call_on(break_context.line, _OF_NUMBERS) or ""
    is_known = call.startswith(("math.", "np.", "numpy."))
    return is_known and (".item(" in call or "_local_scalar_dense" in break_context.words)


def _takes_lists_apart(break_context: BreakContext) -> bool:
    """Whether a loop over a list of lists works with each of them in Python."""
    row = _ROWS.match(break_context.line)
    return row is not None and any(
        f"len({row[1]})" in line or f"{row[1]}[" in line for line in break_context.block
    )


def _chooses_what_is_called(break_context: BreakContext) -> bool:
    """Whether a value that is taken out chooses, here or on a later line, a function or module to call."""
    lines = (break_context.line, *break_context.following)
    chosen = re.compile(rf"\[(?:{break_context.any_target})\]\(|\[int\(.{{1,200}}\)\]\(|\.item\(\)\]\(")
    return any(map(chosen.search, lines))


def _is_an_index(break_context: BreakContext) -> bool:
    """Whether a value that is taken out, here or by what is indexed, chooses an entry here or later."""
    line = break_context.line
    if _TAKES_A_VALUE.search(line) is None:
        return "_local_scalar_dense" in break_context.words and INDEX_BY_A_NAME.search(line) is not None
    entry = re.compile(rf"[\w\])]\[[^\[\]:]{{0,60}}\b(?:{break_context.any_target})\b[^\[\]:]{{0,60}}\]")
    return _OWN_INDEX.search(line) is not None or any(map(entry.search, break_context.following))


def _makes_text(break_context: BreakContext) -> bool:
    """Whether the line makes text, other than as the key under which it stores something."""
    return _TEXT.search(_KEY.sub("", break_context.line)) is not None


def _is_kept(break_context: BreakContext) -> bool:
    """Whether an attribute gets a number that is calculated with what it was: each call has another one."""
    kept = _KEPT.match(break_context.line)
    if kept is None or ".item(" not in break_context.line:
        return False
    return kept["sign"] != "" or re.search(rf"{re.escape(kept['name'])}\b", kept["value"]) is not None


def _is_raised_on_next(break_context: BreakContext) -> bool:
    return _is_branched_on_next(break_context) and any(
        line.lstrip().startswith("raise ") for line in break_context.following
    )


def _stays_in_the_function(break_context: BreakContext) -> bool:
    """Whether the line does not return what it takes out, for which the caller needs a number of Python's."""
    return not break_context.line.startswith("return ")


def _is_only_returned(break_context: BreakContext) -> bool:
    """Whether nothing but a `return` has what the line gives, so that nothing in the function needs it."""
    targets = set(targets_of(break_context.line))
    if not targets:
        return break_context.line.startswith("return ")
    uses = [line for line in break_context.following if targets & {*re.findall(r"\w+", line)}]
    return bool(uses) and all(line.lstrip().startswith("return ") for line in uses)


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
            "filled_with_a_tensor",
        ),
    )


TABLE: BreakRules = (
    Rule(
        re.compile(rf"{_VALUE.pattern}|Data dependent operator"),
        "`{line}` calculates with sizes by numpy, whose numbers are tensors in compiled code, and needs what "
        "one of them holds",
        (
            RemedyTemplate(
                "calculate with sizes by Python's `math` in place of numpy: `math.prod`, `math.ceil`, "
                "`math.sqrt` have the same names there, and what they give is known.",
                cures=("flattened_by_numpy",),
                change=Change(edit="numpy to math"),
            ),
        ),
        line=_SIZES_BY_NUMPY,
    ),
    Rule(
        re.compile(rf"{_VALUE.pattern}|invalid call to builtin op handler|Data-dependent branching"),
        "the largest or smallest is chosen by values of tensors, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "choose it in the graph: `together = torch.stack([…])`, and of what is compared another "
                "tensor, `keys`; then `together.index_select(0, keys.argmax().reshape(1))[0]` (or `argmin`) "
                "in place of `max` or `min`.",
                cures=("best_of_candidates",),
            ),
        ),
        when=_chooses_by_a_key,
    ),
    # The call that takes the value, the text that is made of it, and the print: three breaks of one line.
    Rule(
        re.compile(
            rf"{_VALUE.pattern}|Data dependent operator|BUILD_STRING|builtin operator `print`|[Ll]ogger"
        ),
        "`{line}` reports what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: return the tensor, and print or log after the call "
                "of `{function}`.",
                cures=("item_printed", "router_load_logged", "stats_in_log", "comparison_printed"),
            ),
        ),
        line=_REPORTS_A_VALUE,
    ),
    behind_a_guard(_VALUE, " (without `.item()`)", cures="item_behind_a_flag"),
    Rule(
        _VALUE,
        "which way `{branch}` goes depends on what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "do not take the value out: calculate both and choose, `torch.where({tensor_condition}, "
                "then, else)`, for each value that the branches change{careful}.",
                cures=("item_then_branch", "token_that_is_among_them"),
                change=TO_WHERE,
            ),
        ),
        line=re.compile(r"^\s*(?:if|elif)\b|\bif\b.{1,200}\belse\b"),
    ),
    Rule(
        _VALUE,
        "`{line}` takes a value out of a tensor, and whether an exception is raised depends on it, "
        + NOT_KNOWN,
        (
            RemedyTemplate(
                "take the check of `{target}`, with its `raise`, out of the compiled code: in front of the "
                "call of `{function}`, or after it, on what it returns.",
                cures=("padding_refused",),
            ),
        ),
        when=_is_raised_on_next,
    ),
    Rule(
        _VALUE,
        "`{line}` takes a value out of a tensor, and a branch depends on it, " + NOT_KNOWN,
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
        "how often the loop runs depends on what a tensor holds (`{branch}`), " + NOT_KNOWN,
        (compile_the_body("while_on_an_item"),),
        line=WHILE,
    ),
    Rule(
        re.compile(rf"{_VALUE.pattern}|Dynamic shape operator"),
        "`{line}` is in a loop that runs until tensors say otherwise (`{loop}`), " + NOT_KNOWN,
        (LOOP_LEFT_TO_PYTHON,),
        when=_is_in_a_loop_that_tensors_end,
    ),
    Rule(
        _VALUE,
        "how often the loop runs depends on the largest number in a tensor (`{line}`), " + NOT_KNOWN,
        (
            RemedyTemplate(
                "let the loop run to a size that is known, as that of what is padded (`x.shape[1]`), and "
                "keep the old values by a mask in what is beyond: `torch.where(number < lengths, new, old)`.",
                cures=("loop_up_to_the_longest",),
            ),
        ),
        line=re.compile(r"^\s*for\b.{0,200}\brange\(.{0,200}\bmax\("),
    ),
    Rule(
        _VALUE,
        "how often a loop runs depends on what a tensor holds (`{line}`), " + NOT_KNOWN,
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
        "`{line}` takes a value out of a tensor and keeps it from call to call, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "keep a tensor from call to call: begin with one, `torch.tensor(0.0)`, write `.detach()` in "
                "place of `.item()` (`torch.maximum` for `max`), and take the number out where it is shown, "
                "outside of the compiled code.",
                cures=("total_kept_as_a_number",),
            ),
        ),
        when=_is_kept,
    ),
    Rule(
        _VALUE,
        "text is made of what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "make the text after the call of `{function}`: return the tensor, and format it there.",
                cures=("item_in_text", "words_of_the_caption"),
            ),
        ),
        when=_makes_text,
    ),
    Rule(
        _VALUE,
        "`{line}` checks a value that it takes out of a tensor, " + NOT_KNOWN,
        (_as_part_of_the_graph("check_of_an_item"),),
        line=re.compile(r"\btorch\._check\w{0,20}\("),
    ),
    Rule(
        _VALUE,
        "`{line}` is given a value out of a tensor, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: return what it needs, and do it after the call of "
                "`{function}`.",
                cures=("number_given_to_a_meter",),
            ),
            _as_part_of_the_graph(),
        ),
        line=_IS_GIVEN,
    ),
    Rule(
        _VALUE,
        "`{line}` calls what works in Python with what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "do `{line}` before the call of `{function}` and pass in what it gives; or after it, where "
                "it needs what `{function}` calculates, or nothing there needs what it gives.",
                cures=("prefix_hashed", "counted_tokens"),
            ),
            _as_part_of_the_graph(),
        ),
        line=_IS_WORKED_ON,
    ),
    Rule(
        _VALUE,
        "`{line}` takes lists out of a tensor, with which the loop works in Python, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "leave the loop to Python: before the call of `{function}`, passing in what it gives; or end "
                "the compiled function in front of it, and compile what comes after it as a function of its "
                "own.",
                cures=("no_repeat_ngrams",),
            ),
        ),
        when=_takes_lists_apart,
    ),
    Rule(
        _VALUE,
        "`{line}` takes out of a tensor which function or module is called, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "call all of them and choose by the tensor, without taking the value out: "
                "`torch.stack([each(x) for each in them]).index_select(0, index.reshape(1))[0]`; where that "
                "is too much, end the compiled function in front of `{line}`, and compile each of them as a "
                "function of its own.",
                cures=("expert_chosen", "head_by_prediction"),
            ),
        ),
        when=_chooses_what_is_called,
    ),
    Rule(
        _VALUE,
        "`{line}` looks up in Python what a tensor holds, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "do `{line}` after the call of `{function}`: return the tensor; nothing else needs what is "
                "looked up.",
                cures=("labels_of_a_prediction",),
            ),
        ),
        line=_LOOKS_UP,
        when=_is_only_returned,
    ),
    Rule(
        _VALUE,
        "`{line}` makes a list of what a tensor holds, " + NOT_KNOWN,
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
        "`{line}` takes an index out of a tensor, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "index by the tensor, and take no value out of it: `table[index.reshape(1)][0]`. Where what "
                "is indexed is a list, make a tensor of it, `table = torch.tensor(…)` or `torch.stack(…)`.",
                cures=("dose_of_the_hour", "weight_by_a_tensor"),
                not_for=("slice_by_a_length",),
            ),
        ),
        when=_is_an_index,
    ),
    Rule(
        _VALUE,
        "`{call}` takes what it fills with out of a tensor, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "fill with the tensor itself: `value.to(x.dtype).expand(size).clone()`, with the tensor that "
                "is the value, in place of `{call}`.",
                cures=("filled_with_a_tensor",),
            ),
        ),
        line=_FILLS,
        unless=_TAKES_A_VALUE,
    ),
    Rule(
        _VALUE,
        "`{line}` calculates with what a tensor holds by a function of numbers, " + NOT_KNOWN,
        (
            RemedyTemplate(
                "calculate with the tensor itself, without `.item()`, by torch's function of the same name: "
                "`torch.exp(x)` in place of `math.exp(x)`. What it gives is a tensor: where a number of "
                "Python's is needed, take it out after the call of `{function}`.",
                cures=("perplexity_by_math",),
                change=Change(edit="numpy to torch"),
            ),
        ),
        when=_is_given_to_math,
    ),
    Rule(
        _VALUE,
        "`{line}` takes a value out of a tensor, " + NOT_KNOWN,
        (
            _as_part_of_the_graph(
                "item",
                "number_of_nodes",
                "sizes_of_a_box",
                "slice_by_a_length",
                "levels_split_by_item",
                "jagged_to_dense",
                "accuracy_of_drafts",
            ),
            RemedyTemplate(
                "leave out `.item()` (or `float`, `int`), and calculate with the tensor.",
                cures=("item",),
                not_for=("check_of_an_item", "accuracy_of_drafts"),
                change=Change(edit="item kept a tensor"),
                when=_stays_in_the_function,
            ),
        ),
    ),
    Rule(
        re.compile(r"Tensor\.tolist\(\)"),
        "`{line}` makes a list of what a tensor holds, " + NOT_KNOWN,
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
        "`{call}` is true or false by what the tensors hold, " + NOT_KNOWN,
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
        "`{line}` sorts by what a tensor holds, " + NOT_KNOWN,
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
        "`{line}` sorts a list by values of tensors, " + NOT_KNOWN,
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
