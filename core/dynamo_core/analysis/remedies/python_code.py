"""Causes: Python that Dynamo does not trace: contexts, generators, exceptions, classes, the interpreter.

Source: torch/_dynamo/symbolic_convert.py, torch/_dynamo/convert_frame.py (generators) and
torch/_dynamo/graph_break_registry.json, read with 2.13; names of breaks with 2.8 to 2.15.
"""

import re

from .cause import Cause, Treatment

TABLE = (
    Cause(
        re.compile(r"Attempt to trace generator"),
        "`{function}` is a generator (it has a `yield`), which torch does not compile by itself",
        (
            Treatment(
                "compile the function that takes the values of `{function}`, not the generator: inside of "
                "that one it is traced.",
                cures="generator_function",
            ),
        ),
    ),
    Cause(
        re.compile(r"Observed exception"),
        "the compiled function ends in an exception, which torch does not compile",
        (
            Treatment(
                "have the compiled code return what tells the cases apart, and raise the exception after "
                "the call of `{function}`.",
                cures="uncaught_exception",
            ),
        ),
    ),
    Cause(
        re.compile(r"context manager|GenericContextWrapping|_GeneratorContextManager|non-Tensor"),
        "torch does not know how to enter and leave this context in compiled code: `{line}`",
        (
            Treatment(
                "put `{line}` around the call of `{function}`, in place of having it inside.",
                cures="lock_held",
            ),
        ),
        line=re.compile(r"^\s*(?:async )?with\b"),
    ),
    Cause(
        re.compile(r"__build_class__|LOAD_BUILD_CLASS"),
        "a class is defined while the function is compiled",
        (
            Treatment(
                "define the class outside of the compiled code, at the top of the module.",
                cures="class_made_inside",
            ),
        ),
    ),
    Cause(
        re.compile(r"FakeIdVariable|builtin operator `id`"),
        "`id` of an object that is made in the compiled function is not known while it is compiled",
        (
            Treatment(
                "use a key of your own (a name, a number that you count) in place of `id(…)`.",
                cures="id_as_key",
            ),
        ),
    ),
)
