"""Remedies for calls that have no place in a graph: printing, logging, clocks, files, functions in C, numpy.

Source: torch/_dynamo/variables/{functions,builtin,misc}.py (SkipFunctionVariable, DebuggingVariable,
LoggingLoggerVariable, NumpyVariable) and torch/_dynamo/trace_rules.py, read with 2.13; names of breaks with 2.8
to 2.15.
"""

import re

from .advice import Assignment, Change
from .treatment import Treatment

_LATER = "torch._dynamo.config.reorderable_logging_functions+"
_PRINT = re.compile(r"builtin operator `print`|builtin `print")
# What torch can put off are tensors, numbers and text: DebuggingVariable.can_reorder_logs.
_PRINT_OF_PLAIN = re.compile(
    r"builtin operator `print` with argument types "
    r"\[(?:'(?:str|int|float|bool|NoneType|Tensor|Parameter|dtype|device)'(?:, )?){0,50}\]"
)
_PRINTED = "`print` has an effect outside of the graph, which torch does not put into it"
_IN_C = re.compile(
    r"marked as skipped|C/C\+\+|third-party|Unsupported function call|trace (?:the )?(?:Python )?builtin"
)

TABLE = (
    Treatment(
        _PRINT_OF_PLAIN,
        "run `torch._dynamo.config.reorderable_logging_functions.add(print)` before the first call: then torch "
        "prints behind the graph.",
        shown_by="print_of_a_tensor",
        cause=_PRINTED,
        change=Change(settings=(Assignment(_LATER, "print"),)),
        may_change="what is printed comes when the graph has run; of a tensor that is changed in place, later values",
        not_for=("print_of_an_object",),
    ),
    Treatment(
        _PRINT,
        "take `{line}` out of the compiled code: print behind the call of `{function}`.",
        shown_by="print_of_an_object",
        cause=_PRINTED,
    ),
    Treatment(
        re.compile(r"logging\.Logger|Logger method"),
        "take `{line}` out of the compiled code: log behind the call of `{function}`.",
        shown_by="logging_call",
        cause="a logger has an effect outside of the graph, which torch does not put into it",
    ),
    Treatment(
        re.compile(r"logging\.Logger|Logger method"),
        "have torch leave the logger's methods out: "
        "`torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info)`, and so on for each method.",
        shown_by="logging_call",
        change=Change(
            settings=tuple(
                Assignment("torch._dynamo.config.ignore_logging_functions+", f"logging.Logger.{method}")
                for method in ("debug", "info", "warning", "error")
            )
        ),
        may_change="compiled code logs nothing any more",
        since=(2, 11),
    ),
    Treatment(
        re.compile(r"builtin `?_?warnings\.warn"),
        "run `torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)` before the first call: then "
        "torch warns behind the graph.",
        shown_by="warning",
        cause="a warning has an effect outside of the graph, which torch does not put into it",
        line=re.compile(r"warn\(\s{0,9}f?[\"'][^\"'\n]{0,200}[\"']\s{0,9}\)"),
        change=Change(settings=(Assignment(_LATER, "warnings.warn"),)),
        may_change="the warning names another line, and comes when the graph has run",
        not_for=("warning_of_a_category",),
    ),
    Treatment(
        re.compile(r"_?warnings\.warn"),
        "take `{line}` out of the compiled code: warn before the call of `{function}`, or behind it.",
        shown_by="warning_of_a_category",
        cause="a warning has an effect outside of the graph, which torch does not put into it",
    ),
    Treatment(
        re.compile(r"time\.(?:sleep|time|time_ns|perf_counter|perf_counter_ns|monotonic|process_time)"),
        "take the clock out of the compiled code: read it before and behind the call of `{function}`.",
        shown_by="clock",
        cause="`{call}` reads a clock, which is no part of a graph: compiled once, it would always give the same",
    ),
    Treatment(
        re.compile(r"builtin operator `open`|`open`"),
        "read the file before the call of `{function}`, and pass in what was read.",
        shown_by="open_file",
        cause="a file is opened, which is no part of a graph",
    ),
    Treatment(
        re.compile(r"numpy"),
        "draw the numbers before the call of `{function}`, and pass them in.",
        shown_by="numpy_random",
        cause="`{call}` draws random numbers of numpy's, which torch does not trace",
        line=re.compile(r"\brandom\."),
    ),
    Treatment(
        re.compile(r"numpy"),
        "write `{call}` with functions of torch's; or call it before the call of `{function}` and pass in what it "
        "returns, where no tensor of the graph goes into it.",
        shown_by="numpy_function",
        cause="`{call}` is a function of numpy's that torch has no counterpart for",
        change=Change(edit="numpy to torch"),
    ),
    Treatment(
        re.compile(r"."),
        "draw the number before the call of `{function}`, and pass in what is chosen with it.",
        shown_by="random_index",
        cause="`{line}` chooses by a number that is drawn anew in each call, and what is chosen must be known "
        "while the function is compiled",
        line=re.compile(r"\brandom\.\w{1,30}\("),
    ),
    Treatment(
        re.compile(r"method `(?:write|flush|writelines)` of class `TextIOWrapper`"),
        "take `{line}` out of the compiled code: write behind the call of `{function}`.",
        shown_by="written_to_stdout",
        cause="`{call}` has an effect outside of the graph, which torch does not put into it",
    ),
    Treatment(
        _IN_C,
        "call `{call}` before the call of `{function}` and pass in what it returns, where no tensor of the graph "
        "goes into it; else end the compiled function in front of it. A function of your own in C++ becomes part "
        "of the graph as a custom operator (`torch.library.custom_op`).",
        shown_by="c_extension_call",
        cause="`{call}` runs code that is not Python (C or C++), into which torch cannot look",
        unless=re.compile(r"^\s*with\b"),
    ),
)
