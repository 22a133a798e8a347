"""What to do about a graph break, in a sentence, beside the hints that torch gives.

By what was called, and by torch's name for the kind of break (torch/_dynamo/graph_break_registry.json, read
with 2.8 to 2.15). No entry here means that torch's hints are all there is.
"""

import re

from ...model import GraphBreak
from ..break_effects import is_library
from .advice import Advice

_OF_ASSERT = "use `torch._assert` or `torch._check`, which stay in the graph, or assert elsewhere."
# By what was called, wherever torch's words name it; the first that fits.
_CALLS: tuple[tuple[str, str], ...] = (
    (
        r"Data-dependent branching|generic_jump|Data-dependent jump",
        "compute both branches and choose with `torch.where(condition, a, b)`, or use `torch.cond`; or test "
        "the condition outside the compiled code.",
    ),
    (r"assert.{0,200}data-dependent|Data-dependent assertion", _OF_ASSERT),
    (
        r"Tensor\.item\(\)|Tensor\.tolist\(\)|Data dependent operator",
        "keep the value a tensor; or set `torch._dynamo.config.capture_scalar_outputs = True`, which puts "
        "`.item()` and integer `.tolist()` into the graph.",
    ),
    (
        r"Dynamic shape operator",
        "set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`, or replace the operator by one "
        "whose output size is known (a mask and `torch.where` instead of `nonzero` or boolean indexing).",
    ),
    (
        r"`print`|builtin operator `print",
        "take the `print` out of the compiled code, or let torch move it behind the graph: "
        "`torch._dynamo.config.reorderable_logging_functions.add(print)`.",
    ),
    (
        r"logging\.Logger|Logger method",
        "take the logging out of the compiled code, or have torch leave it out: add the method to "
        "`torch._dynamo.config.ignore_logging_functions`.",
    ),
    (r"builtin `_?warnings\.warn", "warn outside the compiled code."),
    (r"`open`|builtin operator `open", "read the file before the compiled code and pass in what was read."),
    (
        r"time\.(sleep|time|perf_counter|monotonic)",
        "take the clock out of the compiled code: time around the call of it.",
    ),
)
# By the kind alone.
_KINDS: tuple[tuple[str, str], ...] = (
    (
        r"torch\.compiler\.disable",
        "if it can be traced, remove the `disable`; else call it before or after the compiled code, so that "
        "one graph is enough.",
    ),
    (r"graph_break\(\)", "remove the `torch._dynamo.graph_break()` call."),
    (r"skip_frame\(\)|step_unsupported\(\)", "remove the call that asks Dynamo to stop here."),
    (
        r"function marked as skipped|C/C\+\+|third-party|Unsupported function call|Cannot.{0,200}builtin",
        "call it outside the compiled code; one of yours in C++ or CUDA becomes a node of the graph as a "
        "custom operator (`torch.library.custom_op`), one in Python that is safe to trace blindly with "
        "`torch.compiler.allow_in_graph`.",
    ),
    (
        r"context manager|GenericContextWrapping",
        "enter the context outside the compiled code; or resolve the break inside it, after which "
        "the context is traced.",
    ),
    (r"Tensor\.backward\(\)|autograd\.grad", "call the backward pass outside the compiled code."),
    (r"numpy", "use the torch function instead, or convert before the compiled code."),
    (r"requires_grad_\(\)", "set requires_grad before the compiled code."),
    (r"generator", "have the generator make a list before the compiled code, or compile its consumer."),
    (r"RNN, GRU, or LSTM", "set `torch._dynamo.config.allow_rnn = True`."),
    (r"deepcopy", "copy before the compiled code, or use `.clone()`."),
    (r"hook", "register the hook outside the compiled code, before the first call."),
    (
        r"^BackendCompilerFailed|^InductorError",
        "the backend failed on this graph. The backend `aot_eager` tells whether it is Inductor; "
        "`dynamo graphs --runnable N` writes the graph as a script for a bug report.",
    ),
    (
        r"[Rr]ecompile limit",
        "`dynamo recompiles` shows which guard failed each time and how to keep it from failing.",
    ),
    (
        r"^Observed exception",
        "keep exceptions out of the compiled code's normal path: test before, or catch outside.",
    ),
)

_BY_CALL = [(re.compile(pattern), advice) for pattern, advice in _CALLS]
_BY_KIND = [(re.compile(pattern), advice) for pattern, advice in _KINDS]


def break_advice(graph_break: GraphBreak) -> list[Advice]:
    """What to do about a break, the surest first; nothing where we know no more than torch's hints."""
    explanation = graph_break.explanation
    line = graph_break.stack[-1].text.strip() if graph_break.stack else ""
    if line.startswith("assert"):
        return [Advice(_OF_ASSERT)]
    if "graph_break()" in graph_break.kind and graph_break.place and is_library(graph_break.place):
        return []  # the library's own, which means it
    return advice_on(graph_break.kind, explanation.explanation if explanation else graph_break.reason)


def advice_on(kind: str, explanation: str | None) -> list[Advice]:
    """What to do about a kind of break, or about what made Dynamo give up on a frame."""
    words = f"{kind}\n{explanation or ''}"
    text = _first(_BY_CALL, words) or _first(_BY_KIND, kind)
    return [Advice(text)] if text else []


def _first(advice: list[tuple[re.Pattern[str], str]], words: str) -> str | None:
    return next((text for pattern, text in advice if pattern.search(words)), None)
