"""Remedies for Python that Dynamo does not trace: contexts, generators, exceptions, classes, the interpreter itself.

Source: torch/_dynamo/symbolic_convert.py, torch/_dynamo/convert_frame.py (generators) and
torch/_dynamo/graph_break_registry.json, read with 2.13; names of breaks with 2.8 to 2.15.
"""

import re

from .treatment import Treatment

TABLE = (
    Treatment(
        re.compile(r"Attempt to trace generator"),
        "compile the function that takes the values, not the generator: inside of that one the generator is traced.",
        shown_by="generator_function",
        cause="`{function}` is a generator (it has a `yield`), which torch does not compile by itself",
    ),
    Treatment(
        re.compile(r"Observed exception"),
        "have the compiled code return what tells the cases apart, and raise behind the call of `{function}`.",
        shown_by="uncaught_exception",
        cause="the compiled function ends in an exception, which torch does not compile",
    ),
    Treatment(
        re.compile(r"context manager|GenericContextWrapping"),
        "enter it outside of the compiled code: put `{line}` around the call of `{function}`.",
        shown_by="lock_held",
        cause="torch does not know how to enter and leave this context (`{line}`) in compiled code",
        line=re.compile(r"^\s*(?:async )?with\b"),
    ),
    Treatment(
        re.compile(r"__build_class__|LOAD_BUILD_CLASS"),
        "define the class outside of the compiled code, at the top of the module.",
        shown_by="class_made_inside",
        cause="a class is defined while the function is compiled",
    ),
    Treatment(
        re.compile(r"__getattribute__"),
        "define `__getattr__`, which is called only where an attribute is missing, in place of "
        "`__getattribute__`; or take the method out.",
        shown_by="module_with_getattribute",
        cause="the class of the module defines `__getattribute__`, which torch does not trace",
    ),
    Treatment(
        re.compile(r"FakeIdVariable|builtin `?id\b"),
        "use a key of your own (a name, a number that you count) in place of `id(…)`.",
        shown_by="id_as_key",
        cause="`id` of an object that is made inside of the compiled code is not known while it is compiled",
    ),
)
