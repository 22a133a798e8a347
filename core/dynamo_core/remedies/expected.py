"""Graph breaks that torch makes on purpose, in code of its own: there is nothing to do about them.

Source: torch/optim/optimizer.py (_use_grad), torch/_dynamo/trace_rules.py (files that are not traced, and
torch/optim/lr_scheduler.py among them), torch/_compile.py (_disable_dynamo); read with 2.13.
"""

import re

from ..analysis.source_lines import package_of
from ..model import GraphBreak, Place
from .rules import break_context_of

_ASKS = re.compile(r"graph_break\(\)|skip_frame\(\)|step_unsupported\(\)|torch\.compiler\.disable")
# Torch's words on a function that it does not trace: its name and its file.
_MARKED = re.compile(
    r"intentionally marked that the function `([^`\n]{1,200})` in file `([^`\n]{1,1000})` should not"
)
_CALLS_HOOKS = "/torch/nn/modules/module.py"  # the hooks of modules, which are the user's
_POLYFILLS = "/torch/_dynamo/polyfills/"  # Python's own functions, as torch traces them for the user's code
_OF_OPTIMIZERS = re.compile(r"/torch/optim/\w{1,50}\.py$")


def expected_break(graph_break: GraphBreak) -> str | None:
    """Why torch itself breaks the graph here, in a sentence; None for a break that it does not intend."""
    inside = (each.place for each in reversed(graph_break.stack) if _POLYFILLS not in each.place.file)
    where = next(inside, None)
    if where is None:
        return None
    break_context = break_context_of(graph_break, None)
    if break_context.is_in_ddp or break_context.is_in_distributions:
        return None  # the table of causes has a cure
    call = f"`{break_context.parts['call']}`"
    marked = _MARKED.search(break_context.words)
    if marked is None:
        is_torchs = package_of(where) == "torch" and not where.file.endswith(_CALLS_HOOKS)
        is_asked_for = is_torchs and _ASKS.search(break_context.words)
        return f"torch itself ends a graph in {call}, and goes on with another one" if is_asked_for else None
    function, file = marked.groups()
    is_between = package_of(Place(file, 0)) == "torch" and break_context.is_outside
    if not (is_between or _OF_OPTIMIZERS.search(file)):
        return None
    return f"torch does not trace `{function}`, which {call} leads to, and compiles what that calls"
