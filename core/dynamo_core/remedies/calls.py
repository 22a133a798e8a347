"""Causes: calls that no graph can hold (print, loggers, clocks, files, C, numpy).

Source: torch/_dynamo/variables/{functions,builtin,misc}.py (SkipFunctionVariable, DebuggingVariable,
LoggingLoggerVariable, NumpyVariable) and torch/_dynamo/trace_rules.py, read with 2.13; names of breaks with
2.8 to 2.15.
"""

import re

from ..analysis.source_lines import assigns_nothing, targets_of
from .branches import CALLED_FOR_ITS_EFFECT, compile_the_body, ends_a_pass, is_called_for_its_effect
from .rules import NAME, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

LATER = "torch._dynamo.config.reorderable_logging_functions+"
_PRINT = re.compile(r"builtin operator `print`|builtin `print|attempted to reorder a debugging function")
# torch can defer the printing of tensors, numbers and text (DebuggingVariable.can_reorder_logs), but it drops
# `end`, `sep` and `file` (call_function).
_PRINT_OF_PLAIN = re.compile(
    r"builtin operator `print` with argument types "
    r"\[(?:'(?:str|int|float|bool|NoneType|Tensor|Parameter|dtype|device)'(?:, )?){0,50}\]"
    r"(?! \(has_kwargs True)"
)
_LOGGER = re.compile(r"logging\.Logger|Logger method")
_WARN = re.compile(r"builtin `_?warnings\.warn")
_IN_C = re.compile(
    r"marked as skipped|C/C\+\+|third-party|Unsupported function call|builtin operator|[Bb]uiltin `"
)
_UNTRACED = re.compile(rf"{_IN_C.pattern}|Unsupported method call|tp_iternext|returned non-Tensor")
# "Call to a time function" is torch's text from 2.15 on.
_CLOCK = re.compile(
    r"builtin `time\.(?:time|perf_counter|monotonic|process_time|thread_time)|Call to a time function"
)
_PASSES_ALL_ON = re.compile(r"\w\((?:self, )?\*\w{1,30}, \*\*\w{1,30}\)")
_EFFECT = "has an effect outside of the graph, which torch does not put into it"
_OPENS_TO_WRITE = re.compile(r"\bopen\([^()]{0,200},\s?(?:mode=)?['\"][bt]?[wax]")
_MOVED_CALL, _MOVED = Change(edit="call moved out"), Change(edit="statement moved out")
_ELSEWHERE = (
    "call `{call}` before the call of `{function}`, and pass in what it gives, or what is made of that "
    "alone; where a tensor of the graph goes into it, end the compiled function in front of it."
)


def _opens_to_write(break_context: BreakContext) -> bool:
    return _OPENS_TO_WRITE.search(break_context.line) is not None


def _is_in_a_decorator(break_context: BreakContext) -> bool:
    return any(map(_PASSES_ALL_ON.search, (*break_context.before, *break_context.following)))


def _is_in_what_is_compiled(break_context: BreakContext) -> bool:
    """Whether the line is of the compiled function itself: of one that it calls, torch drops what it defers.

    Source: torch/_dynamo/output_graph.py (codegen_suffix: `debug_locals` of the root alone),
    read and run with 2.13.
    """
    return not (break_context.is_called_inside or break_context.is_inlined)


_DRAWS_A_NUMBER = re.compile(r"constant fold exception|SymNode|RandomVariable|random|Data-dependent")
_DRAWN_BY_PYTHON = re.compile(r"\brandom\.(?:rand\w{0,20}|choice|choices|sample|uniform|shuffle)\(")
_TORCHS_RANDOM = re.compile(r"torch\.random")
_IF = re.compile(r"(?:el)?if\b")
_SETS_RANDOM_STATE = re.compile(r"\b(?:manual_seed|seed|initial_seed|[gs]et_rng_state)\(")


def _is_drawn_by_python(break_context: BreakContext) -> bool:
    """Whether Python draws a number on the line, or on one before it that gives a name of the line."""
    draws = [each for each in break_context.before if _DRAWN_BY_PYTHON.search(each)]
    drawn = {name for each in draws for name in targets_of(each.strip())}
    return bool(_DRAWN_BY_PYTHON.search(break_context.line) or drawn & {*NAME.findall(break_context.line)})


def _decides(break_context: BreakContext) -> bool:
    """Whether the line is a condition on a drawn number, or returns what its caller has as one."""
    is_returned = break_context.line.startswith("return ") and _IF.match(break_context.caller) is not None
    is_condition = _IF.match(break_context.line) is not None or is_returned
    return is_condition and _is_drawn_by_python(break_context)


def _leaves_out_a_pass(break_context: BreakContext) -> bool:
    """Whether a number that is drawn here, or just before, decides that the rest of a pass is left out."""
    if _decides(break_context):
        return ends_a_pass(break_context)
    branch, passing = (*map(str.strip, break_context.following[:2]), "", "")[:2]
    asked = {*targets_of(break_context.line)} & {*NAME.findall(branch)}
    is_drawn = _DRAWN_BY_PYTHON.search(break_context.line) is not None
    return is_drawn and bool(asked) and _IF.match(branch) is not None and passing == "continue"


_TORCHS = r"\btorch\.rand\w{0,4}\([^()]{0,60}\)"
# Before all others: torch traces random numbers of numpy as tensors and those of Python as numbers of the
# graph, so the break looks like one on a tensor's value.
DRAWN: BreakRules = (
    Rule(
        re.compile(r"numpy|_local_scalar_dense|Tensor\.item|Data-dependent|Unsupported method call|skipped"),
        "`{line}` draws random numbers, which are not known while the function is compiled",
        (
            RemedyTemplate(
                "draw the numbers before the call of `{function}`, and pass in what is made with them.",
                cures=("numpy_random", "spans_drawn_by_numpy", "gradient_by_chance", "cutmix_in_the_step"),
                change=_MOVED_CALL,
            ),
        ),
        line=re.compile(rf"\b(?:np|numpy)\.random\.|{_TORCHS}\.item\(\)|\b(?:int|float|bool)\({_TORCHS}"),
    ),
    Rule(
        _DRAWS_A_NUMBER,
        "whether the rest of a pass is left out (`{line}`) goes by a number that is drawn again in each "
        "pass, and it must be known while the function is compiled",
        (
            RemedyTemplate(
                "compile what the loop repeats, not the loop: make a function of what stands behind "
                "`continue` in it, or take the module that is called there, give that one to "
                "`torch.compile`, and leave the loop, which draws, to Python.",
                cures=("layer_left_out_by_a_coin",),
            ),
        ),
        unless=_TORCHS_RANDOM,
        when=_leaves_out_a_pass,
    ),
    Rule(
        _DRAWS_A_NUMBER,
        "`{line}` decides by a number that is drawn again in each call, and which way it goes must be known "
        "while the function is compiled",
        (
            RemedyTemplate(
                "draw before the call of `{function}`, as often as a loop would, and pass in a tensor of "
                "what was drawn; calculate both ways and choose, `torch.where(drawn < p, then, else)`.",
                cures=("teacher_forced_at_random",),
            ),
        ),
        unless=_TORCHS_RANDOM,
        when=_decides,
    ),
    Rule(
        _DRAWS_A_NUMBER,
        "`{line}` chooses by a number that is drawn again in each call, and what is chosen must be known "
        "while the function is compiled",
        (
            RemedyTemplate(
                "draw the number before the call of `{function}`, and pass in what is chosen with it; "
                "numbers by which it indexes as one tensor, `x[:, torch.tensor(order)]`, since a list of "
                "them is compiled again.",
                cures=("random_index", "order_shuffled"),
                change=_MOVED_CALL,
            ),
        ),
        line=_DRAWN_BY_PYTHON,
        unless=_TORCHS_RANDOM,
    ),
)
# Before what is said of one line: a function that only seeds has often several such lines.
RANDOM_STATE: BreakRules = (
    Rule(
        re.compile(r"marked as skipped|returned non-Tensor|torch\.Generator method|method `manual_seed`"),
        "`{caller}`, whose result nobody uses, reads or sets the state of the random numbers (`{line}`), "
        "which torch does not trace",
        (
            RemedyTemplate(
                "move `{caller}`, all of it, out of the compiled code, in front of the call of `{function}`.",
                cures=("seed_of_a_reversible_layer",),
                may_change="what draws random numbers in front of that line draws others then",
            ),
        ),
        line=_SETS_RANDOM_STATE,
        when=is_called_for_its_effect,
    ),
)
CALLS: BreakRules = (
    Rule(
        _PRINT_OF_PLAIN,
        f"`print` {_EFFECT}",
        (
            RemedyTemplate(
                "run `torch._dynamo.config.reorderable_logging_functions.add(print)` before the first call: "
                "then torch prints after the graph.",
                cures=("print_of_a_tensor",),
                change=Change(settings=(Assignment(LATER, "print"),)),
                may_change="it is printed when the graph has run; a tensor that was changed in place by then "
                "shows its later values",
                not_for=("print_of_an_object", "print_of_a_shape", "norms_of_blocks_printed"),
            ),
        ),
        when=_is_in_what_is_compiled,
    ),
    Rule(
        _PRINT,
        f"`print` {_EFFECT}",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: print after the call of `{function}`.",
                cures=(
                    *("print_of_an_object", "norms_of_blocks_printed", "ema_scope"),
                    "print_in_a_method_in_with",
                ),
            ),
        ),
        unless=re.compile(r"\bwarn|\blog"),
    ),
    Rule(
        re.compile(r"builtin operator `(?:str|repr|format)`|(?:repr|str)\(\) on tensor"),
        "text is made of what a tensor holds, and that is not known while the function is compiled",
        (
            RemedyTemplate(
                "make the text after the call of `{function}`: return the tensor, and format it there.",
                cures=("tensor_as_text",),
            ),
        ),
    ),
    Rule(
        re.compile(r"."),
        f"a logger {_EFFECT}",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: log after the call of `{function}`.",
                cures=("logging_by_the_module",),
            ),
        ),
        line=re.compile(r"\blogging\.(?:debug|info|warning|error|exception|critical|log)\("),
    ),
    Rule(
        _LOGGER,
        f"a logger {_EFFECT}",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: log after the call of `{function}`.",
                cures=("logging_call", "warned_once"),
            ),
            RemedyTemplate(
                "have torch leave loggers out: for each of their methods that is called, as "
                "`torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info)`.",
                cures=("logging_call",),
                change=Change(
                    settings=tuple(
                        Assignment(
                            "torch._dynamo.config.ignore_logging_functions+", f"logging.Logger.{method}"
                        )
                        for method in ("debug", "info", "warning", "error")
                    )
                ),
                may_change="compiled code logs nothing any more",
                since=(2, 11),
            ),
        ),
    ),
    Rule(
        _WARN,
        f"a warning {_EFFECT}",
        (
            RemedyTemplate(
                "run `torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)` before the "
                "first call: then torch warns after the graph.",
                cures=("warning",),
                change=Change(settings=(Assignment(LATER, "warnings.warn"),)),
                may_change="the warning comes when the graph has run, and may name another line",
                not_for=("warning_of_a_category",),
            ),
        ),
        line=re.compile(r"warn\(\s{0,9}f?[\"'][^\"'\n]{0,200}[\"']\s{0,9}\)"),
        when=_is_in_what_is_compiled,
    ),
    Rule(
        _WARN,
        f"a warning {_EFFECT}",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: warn before the call of `{function}`, or after it.",
                cures=("warning_of_a_category",),
                change=_MOVED,
            ),
        ),
    ),
    Rule(
        _CLOCK,
        "a decorator asks for the time around each call (`{call}`), which is no part of a graph",
        (
            RemedyTemplate(
                "take the decorator that has `{line}` off what is compiled, and time around the call of what "
                "`torch.compile` returns: inside of a graph no function has a time of its own.",
                cures=("timed_layers",),
            ),
        ),
        when=_is_in_a_decorator,
    ),
    Rule(
        _CLOCK,
        "`{call}` asks for the time, which is no part of a graph: compiled once, it would always give the "
        "same",
        (
            RemedyTemplate(
                "take the clock out of the compiled code: `{call}` before the call of `{function}` and "
                "after it.",
                cures=("clock",),
            ),
        ),
    ),
    Rule(
        re.compile(r"."),
        "`{line}` enters a context by an ExitStack, whose code torch does not trace",
        (
            RemedyTemplate(
                "enter it by a `with` of its own, around what the stack is for; where a condition decides, "
                "`with context if condition else contextlib.nullcontext():`.",
                cures=("exit_stack_freezes",),
            ),
        ),
        line=re.compile(r"\.enter_context\("),
    ),
    Rule(
        re.compile(r"builtin operator `open`|context manager"),
        "a file is opened, which is no part of a graph",
        (
            RemedyTemplate(
                "write the file after the call of `{function}`: take what opens it and writes to it out of "
                "the compiled code, and return what is to be written.",
                cures=("rows_appended_to_a_file",),
                change=_MOVED_CALL,
                when=_opens_to_write,
            ),
            RemedyTemplate(
                "read the file before the call of `{function}`, and pass in what was read (or write it "
                "after the call).",
                cures=("open_file",),
                change=_MOVED_CALL,
                when=lambda break_context: not _opens_to_write(break_context),
            ),
        ),
        line=re.compile(r"\bopen\("),
    ),
    Rule(
        re.compile(r"numpy function|numpy\.ndarray|NumPy"),
        "`{call}` is a function of numpy's that torch has no counterpart of",
        (
            RemedyTemplate(
                "write `{call}` with functions of torch's; or call it before the call of `{function}` and "
                "pass in what it returns, where no tensor of the graph goes into it.",
                cures=("numpy_function", "weight_of_a_loss"),
                change=Change(edit="numpy to torch"),
            ),
        ),
    ),
    Rule(
        re.compile(r"method `(?:write|flush|writelines)` of class `TextIOWrapper`"),
        f"`{{call}}` {_EFFECT}",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: write after the call of `{function}`.",
                cures=("written_to_stdout",),
            ),
        ),
    ),
    Rule(
        re.compile(r"marked as skipped|context manager|Unsupported|generator"),
        "`tqdm` draws a progress bar, which is no part of a graph",
        (
            RemedyTemplate(
                "loop over what is given to `tqdm`, without it; show the progress around the call of "
                "`{function}`.",
                cures=("progress_bar",),
            ),
        ),
        line=re.compile(r"\btqdm\(|\btrange\("),
    ),
)


def _is_inside(break_context: BreakContext) -> bool:
    return not break_context.is_outside


def has_an_effect_alone(break_context: BreakContext) -> bool:
    """Whether what the line gives is not kept, so that it is there for its effect."""
    return assigns_nothing(break_context.line) and not break_context.is_outside


def _is_not_traced(break_context: BreakContext) -> bool:
    return break_context.is_in_library or _UNTRACED.search(break_context.words) is not None


def moved_out(*cures: str) -> RemedyTemplate[BreakContext]:
    return RemedyTemplate(
        "move `{line}` out of the compiled code: in front of the call of `{function}`, or after it, where it "
        "needs what `{function}` calculates; where later lines need what it does, end the compiled function "
        "in front of it.",
        cures=cures,
        change=_MOVED,
    )


# After all causes for calls that are known by name.
ANY_OTHER: BreakRules = (
    Rule(
        sentence="`{line}` has an effect outside of the graph, or leads to code that torch does not trace",
        remedies=(
            moved_out(
                "garbage_collected", "rollouts_in_a_queue", "rows_for_a_spreadsheet", "step_with_a_scaler"
            ),
        ),
        when=lambda break_context: has_an_effect_alone(break_context) and _is_not_traced(break_context),
    ),
    CALLED_FOR_ITS_EFFECT,
    Rule(
        sentence="`{line}` takes its values from what torch does not trace",
        remedies=(compile_the_body("epoch_that_is_compiled"),),
        line=re.compile(r"^\s*for\b"),
        when=_is_inside,
    ),
    Rule(
        _IN_C,
        "`{call}` runs code that is not Python (C or C++), into which torch cannot look",
        (
            RemedyTemplate(
                _ELSEWHERE + " A function of your own in C++ becomes part of the graph as a custom operator "
                "(`torch.library.custom_op`).",
                cures=("c_extension_call", "architecture_asked_for"),
                change=_MOVED_CALL,
            ),
        ),
        unless=re.compile(r"^\s*(?:async )?with\b"),
        when=_is_inside,
    ),
    Rule(
        re.compile(r"Failed to convert args/kwargs to proxy"),
        "`{call}` is given an object that no graph can hold, as a generator of random numbers",
        (
            RemedyTemplate(
                _ELSEWHERE, cures=("noise_of_a_generator", "picture_to_tensor"), change=_MOVED_CALL
            ),
        ),
        when=_is_inside,
    ),
    Rule(
        sentence="`{call}` leads to what torch does not know how to trace",
        remedies=(
            RemedyTemplate(
                _ELSEWHERE,
                cures=("date_of_today", "context_variable", "neighbours_from_a_sampler", "json_call"),
                change=_MOVED_CALL,
            ),
        ),
        unless=re.compile(r"^\s*(?:async )?with\b"),
        when=lambda break_context: _is_inside(break_context) and _is_not_traced(break_context),
    ),
)
