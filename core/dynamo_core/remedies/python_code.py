"""Causes: Python that Dynamo does not trace: contexts, generators, exceptions, classes, the interpreter.

Source: torch/_dynamo/symbolic_convert.py, torch/_dynamo/convert_frame.py (generators) and
torch/_dynamo/graph_break_registry.json, read with 2.13; names of breaks with 2.8 to 2.15.
"""

import re

from .rules import BreakContext, BreakRules, Change, RemedyTemplate, Rule

SETS_AN_ATTRIBUTE = re.compile(r"^\s*[\w.]{1,200}\.(\w{1,100})\s{0,9}(?:[-+*/%&|^@<>]{1,2})?=(?!=)")
_WITH = re.compile(r"^\s*(?:async )?with\b")
_CONTEXT = re.compile(
    r"context manager|GenericContextWrapping|_GeneratorContextManager|non-Tensor"
    r"|\b__enter__`|generator function over a skipped function"  # in 2.15
)


def _only_sets_attributes(break_context: BreakContext) -> bool:
    """Whether all that the block does is to set attributes, which nothing that is known behind it reads."""
    block = break_context.block
    attributes = [found[1] for found in map(SETS_AN_ATTRIBUTE.match, block) if found]
    read = "|".join(rf"\.{attribute}\b" for attribute in attributes)
    behind = [*break_context.behind_the_block, break_context.caller]
    return bool(block) and len(attributes) == len(block) and not any(re.search(read, each) for each in behind)


# `x if x.data_ptr() % 16 == 0 else x.clone()`, and the same as an `if`.
_ALIGNED = re.compile(r"\.data_ptr\(\) ?%")
_COPIES = re.compile(
    r".{0,200}\b(\w{1,60}) if .{1,200} else \1\.clone\(\)"
    r"|.{0,200}\b(\w{1,60})\.clone\(\) if .{1,200} else \2\b"
    r"|\s*(\w{1,60}) = \3\.clone\(\)"
)


def _copies_what_is_not_aligned(break_context: BreakContext) -> bool:
    """Whether all that the address of a tensor decides is whether the tensor is copied."""
    is_branch = break_context.line.startswith("if ")
    does = break_context.block if is_branch else [break_context.line]
    has_other_way = any(map(re.compile(r"\s*(?:else|elif)\b").match, break_context.behind_the_block[:1]))
    asks = _ALIGNED.search(break_context.parts["condition"]) is not None
    return asks and len(does) == 1 and not (is_branch and has_other_way) and bool(_COPIES.match(does[0]))


def _makes_a_class_of_pydantics(break_context: BreakContext) -> bool:
    is_by_name = break_context.words.startswith("Pydantic dataclass constructor")
    return is_by_name or break_context.library in ("pydantic", "pydantic_core")


PYTHON_CODE: BreakRules = (
    Rule(
        re.compile(r"Observed exception|[Dd]ata.?[Pp]tr|data_ptr"),
        "where a tensor lies in memory (`{condition}`) is not known while the function is compiled",
        (
            RemedyTemplate(
                "do not ask where the tensor lies, and make the copy in every call (`.clone()`): it holds "
                "the same values.",
                cures=("copied_where_not_aligned",),
                change=Change(edit="copied always"),
            ),
        ),
        when=_copies_what_is_not_aligned,
    ),
    Rule(
        re.compile(r"."),
        "`{called}` is a dataclass of pydantic's, whose checks torch does not trace",
        (
            RemedyTemplate(
                "make the class that the line makes one of `dataclasses.dataclass`, which torch traces; or "
                "have the compiled code return what goes into it, and make it behind the call.",
                cures=("record_checked_by_pydantic",),
                may_change="a class of `dataclasses` does not check its fields",
            ),
        ),
        when=_makes_a_class_of_pydantics,
    ),
    Rule(
        re.compile(r"Unsupported method call|Observed exception"),  # the latter in 2.15
        "`{line}` asks `object` for what is kept on it, and torch does not trace that",
        (
            RemedyTemplate(
                "take the attribute out of the object's dictionary, which torch traces: "
                "`self.__dict__['name']` in place of `object.__getattribute__(self, 'name')`; where that "
                "class is not yours, read what the compiled code needs of it before the call, and pass that "
                "in.",
                cures=("settings_by_attribute",),
                change=Change(edit="attribute by its dictionary"),
            ),
        ),
        line=re.compile(r"\bobject\.__getattribute__\("),
    ),
    Rule(
        re.compile(r"\bas_subclass\b"),
        "`{line}` leads to `as_subclass`, by which a tensor becomes one of another class, and which torch "
        "does not trace here",
        (
            RemedyTemplate(
                "calculate with plain tensors in the compiled code: take them by "
                "`.as_subclass(torch.Tensor)` in front of the call of `{function}`, pass them in with what "
                "else the class keeps, and make its tensors of what comes back, after the call.",
                cures=("sound_with_its_rate",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Attempt to trace generator"),
        "`{function}` is a generator (it has a `yield`), which torch does not compile by itself",
        (
            RemedyTemplate(
                "leave the generator `{function}` to Python, and compile what it does for each of its "
                "values: give the module that it calls to `torch.compile`, or a function of what stands in "
                "front of its `yield`.",
                cures=("tokens_streamed", "generator_function"),
            ),
            RemedyTemplate(
                "compile the function that takes the values of `{function}`, not the generator: inside of "
                "that one it is traced.",
                cures=("generator_function",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Observed exception"),
        "`{line}` raises an error while torch traces it",
        (
            RemedyTemplate(
                "where plain Python raises none here, torch does not know what the line asks of an object: "
                "do it before the call of `{function}`, with all that works on that object, and pass in what "
                "it gives; or end the compiled function in front of it, and compile what comes after it as a "
                "function of its own. Where Python raises it as well, have the compiled code return what "
                "tells the cases apart, and raise the exception after the call.",
                cures=("frames_in_a_deque",),
                change=Change(edit="compiled around its function"),
                not_for=("uncaught_exception",),
            ),
        ),
        unless=re.compile(r"^\s*(?:raise|assert)\b"),
        when=lambda break_context: break_context.entered is None,
    ),
    Rule(
        re.compile(r"Observed exception"),
        "the compiled function ends in an exception, which torch does not compile",
        (
            RemedyTemplate(
                "have the compiled code return what tells the cases apart, and raise the exception after "
                "the call of `{function}`.",
                cures=("uncaught_exception",),
            ),
        ),
    ),
    Rule(
        _CONTEXT,
        "torch does not know how to enter and leave this context in compiled code: `{line}`",
        (
            RemedyTemplate(
                "where no later line of the compiled code reads what is set there, take `{line}`, with all "
                "of its block, out of the compiled code, behind the call of `{function}`: it only sets "
                "attributes, which no graph is needed for. Else put only the `with` around the call of "
                "`{function}`, and leave what is in it where it is.",
                cures=("count_under_a_lock",),
                not_for=("mean_under_a_lock",),
            ),
        ),
        line=_WITH,
        when=_only_sets_attributes,
    ),
    Rule(
        _CONTEXT,
        "torch does not know how to enter and leave this context in compiled code: `{line}`",
        (
            RemedyTemplate(
                "put `{line}` around the call of `{function}`, in place of having it inside, and move there "
                "what counts in it, as `{counts}`: in compiled code each number that a module counts is a "
                "version of its own.",
                cures=("hits_counted_under_a_lock",),
            ),
        ),
        line=_WITH,
        when=lambda break_context: break_context.counts != "",
    ),
    Rule(
        _CONTEXT,
        "torch does not know how to enter and leave this context in compiled code: `{line}`",
        (
            RemedyTemplate(
                "put `{line}` around the call of `{function}`, in place of having it inside; where the rest "
                "of `{function}` must not run in it, compile the lines inside of the `with` as a function.",
                cures=("lock_held", "saved_on_the_cpu", "flags_of_a_backend", "mean_under_a_lock"),
            ),
        ),
        line=_WITH,
    ),
    Rule(
        # functools.py (cached_property.__get__), which takes a lock in Python 3.8 to 3.11.
        re.compile(r"context manager"),
        "`{line}` asks for a property that is computed at first (`functools.cached_property`), under a lock, "
        "which torch does not trace",
        (
            RemedyTemplate(
                "ask for the property once before the first call of `{function}`: it is kept then.",
                cures=("property_that_is_cached",),
            ),
        ),
        when=lambda break_context: (break_context.entered, break_context.library) == ("__get__", "functools"),
    ),
    Rule(
        re.compile(r"Import failure"),
        "`{line}` fails in the compiled function, perhaps since it only asks whether that is installed",
        (
            RemedyTemplate(
                "try the import once, outside of the compiled code (at the top of the module), and ask here "
                "for what came of it.",
                cures=("backend_probed_by_import",),
            ),
        ),
    ),
    Rule(
        re.compile(r"weakref\.(?:Callable)?ProxyType"),
        "`{line}` asks an object through a weak proxy (`weakref.proxy`), into which torch cannot look",
        (
            RemedyTemplate(
                "hold the object by `weakref.ref(…)`, and call that reference where it is asked: torch "
                "traces that; or read what is needed before the call of `{function}`.",
                cures=("weak_proxy",),
            ),
        ),
    ),
    Rule(
        re.compile(r"__build_class__|LOAD_BUILD_CLASS"),
        "a class is defined while the function is compiled",
        (
            RemedyTemplate(
                "define the class outside of the compiled code, at the top of the module.",
                cures=("class_made_inside",),
            ),
        ),
    ),
    Rule(
        # torch/_dynamo/guards.py (CheckFunctionManager), read and run with 2.13.
        re.compile(r"Guard failed on the same frame it was created.{0,400}<class 'method'>"),
        "`{line}` asks for the `id` of a bound method, which is another object each time it is asked for, so "
        "that torch's check of it fails at once",
        (
            RemedyTemplate(
                "ask before the call of `{function}`, and pass in what it gives; or take the `id` of the "
                "function behind the method, `id(method.__func__)`, in all places: it stays the same, and "
                "all objects of the class share it.",
                cures=("handlers_by_id",),
            ),
        ),
    ),
    Rule(
        re.compile(r"FakeIdVariable|builtin operator `id`"),
        "`id` of an object that is made in the compiled function is not known while it is compiled",
        (
            RemedyTemplate(
                "use a key of your own (a name, a number that you count) in place of `id(…)`.",
                cures=("id_as_key",),
            ),
        ),
    ),
)
