"""Causes: what the program or a library asked for (breaks, disabled functions), and backends that fail.

Source: torch/_dynamo/decorators.py (disable, graph_break, skip_frame) and torch/_dynamo/exc.py
(BackendCompilerFailed), 2.8 to 2.15.
"""

import re

from .advice import Assignment, Change
from .cause import Cause, Treatment

_ASKS = re.compile(r"graph_break\(\)|skip_frame\(\)|torch\.compiler\.disable")
_LOOKS = re.compile(r"Data-dependent|Tensor\.item\(\)|_local_scalar_dense|Dynamic shape operator")
_REMOVED = Change(edit="statement removed")


def _out_of_it(cures: str) -> tuple[Treatment, ...]:
    return (
        Treatment(
            "end the compiled function in front of `{call}`, and compile what comes after it as a function "
            "of its own: what breaks the graph is in `{library}`, and not yours to change.",
            cures=cures,
        ),
    )


BY_A_LIBRARY = (
    Cause(
        _ASKS,
        "`{call}` leads into the library `{library}`, which asks torch not to trace it",
        _out_of_it("library_asks_for_a_break"),
        when=lambda situation: situation.is_in_library,
    ),
    Cause(
        _LOOKS,
        "`{call}` leads into the library `{library}`, which looks at what a tensor holds",
        _out_of_it("library_branches"),
        when=lambda situation: situation.is_in_library,
    ),
)
TABLE = (
    Cause(
        re.compile(r"torch\.compiler\.disable"),
        "`{called}` was marked with `torch.compiler.disable`, so torch does not trace it",
        (
            Treatment(
                "remove the `torch.compiler.disable` from `{called}`, if torch can trace it; else call it "
                "before or after the compiled code.",
                cures="disabled_helper",
                change=Change(edit="decorator removed"),
            ),
        ),
    ),
    Cause(
        re.compile(r"graph_break\(\)"),
        "the program asks for this break: `{line}`",
        (Treatment("remove `{line}`.", cures="explicit_break", change=_REMOVED),),
    ),
    Cause(
        re.compile(r"skip_frame\(\)|step_unsupported\(\)"),
        "the program asks torch to leave this function alone: `{line}`",
        (Treatment("remove `{line}`.", cures="skipped_frame", change=_REMOVED),),
    ),
    Cause(
        re.compile(r"^(?:BackendCompilerFailed|InductorError)"),
        "the backend that was to compile the graph raised an error",
        (
            Treatment(
                'use another backend until this one is fixed: `torch.compile(…, backend="aot_eager")`, '
                "which works where the graph itself is sound; `dynamo graphs --runnable N` writes the graph "
                "as a script for a bug report.",
                cures="backend_that_raises",
                change=Change(arguments=(Assignment("backend", "aot_eager"),)),
            ),
        ),
    ),
)
