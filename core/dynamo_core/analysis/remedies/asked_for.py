"""Remedies for what was asked for: breaks by the program or by a library, disabled functions, a backend that fails.

Source: torch/_dynamo/decorators.py (disable, graph_break, skip_frame) and torch/_dynamo/exc.py
(BackendCompilerFailed), 2.8 to 2.15.
"""

import re

from .advice import Assignment, Change
from .situation import Situation
from .treatment import Treatment


def _is_in_library(situation: Situation) -> bool:
    return situation.library not in (None, "torch") and situation.entered is not None


_OUT_OF_IT = (
    "end the compiled function in front of `{call}`, and compile what comes behind it as a function of its own: the "
    "break is in `{library}` and not yours to change."
)

BY_LIBRARY = (
    Treatment(
        re.compile(r"graph_break\(\)|skip_frame\(\)|torch\.compiler\.disable"),
        _OUT_OF_IT,
        shown_by="library_asks_for_a_break",
        cause="`{call}` is a function of the library `{library}`, which asks torch not to trace it",
        when=_is_in_library,
    ),
    Treatment(
        re.compile(r"Data-dependent|Tensor\.item\(\)|_local_scalar_dense|Dynamic shape operator"),
        _OUT_OF_IT,
        shown_by="library_branches",
        cause="`{call}` is a function of the library `{library}`, which looks at what a tensor holds",
        when=_is_in_library,
    ),
)
BY_LIBRARY_OTHERWISE = (
    Treatment(
        re.compile(r"."),
        "call `{call}` before the call of `{function}` and pass in what it returns, where no tensor of the graph "
        "goes into it; else end the compiled function in front of it.",
        shown_by="json_call",
        cause="`{call}` is a function of the library `{library}`, in which torch meets what it cannot trace",
        when=_is_in_library,
    ),
)
TABLE = (
    Treatment(
        re.compile(r"torch\.compiler\.disable"),
        "remove the `torch.compiler.disable` from `{called}`, if torch can trace it; else call it before or "
        "behind the compiled code.",
        shown_by="disabled_helper",
        cause="`{called}` was marked with `torch.compiler.disable`, so torch does not trace it",
    ),
    Treatment(
        re.compile(r"graph_break\(\)"),
        "remove `{line}`.",
        shown_by="explicit_break",
        cause="the program asks for this break (`{line}`)",
        change=Change(edit="statement removed"),
    ),
    Treatment(
        re.compile(r"skip_frame\(\)|step_unsupported\(\)"),
        "remove `{line}`.",
        shown_by="skipped_frame",
        cause="the program asks torch to leave this function alone (`{line}`)",
        change=Change(edit="statement removed"),
    ),
    Treatment(
        re.compile(r"^BackendCompilerFailed: backend='(?!inductor|aot_eager|eager)"),
        'use another backend until this one is mended: `torch.compile(…, backend="aot_eager")`.',
        shown_by="backend_that_raises",
        cause="the backend raised an error of its own",
        change=Change(arguments=(Assignment("backend", "aot_eager"),)),
    ),
    Treatment(
        re.compile(r"^BackendCompilerFailed|^InductorError"),
        'use another backend for this function: `torch.compile(…, backend="aot_eager")`, which also tells whether it '
        "is Inductor; `dynamo graphs --runnable N` writes the graph as a script for a bug report.",
        shown_by="backend_that_raises",
        cause="the backend failed on this graph",
        change=Change(arguments=(Assignment("backend", "aot_eager"),)),
    ),
    Treatment(
        re.compile(r"[Rr]ecompile limit"),
        "`dynamo recompiles` shows which guard failed each time and how to keep it from failing.",
        shown_by="",
    ),
)
