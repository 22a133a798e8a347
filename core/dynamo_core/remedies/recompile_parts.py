"""What tells the causes of recompiles apart, and what the texts of their rules may name."""

import re
from collections.abc import Callable
from itertools import chain

from ..analysis.excerpt import lines_of_function
from ..analysis.guard_failures import is_named_in, range_words
from ..analysis.recompile_causes import RecompileCause, calculated_from, causes_of
from ..analysis.recompile_sizes import fixed_sizes
from ..analysis.source_lines import BY_MATH, indexed_by_a_name, is_library, looked_up_in, without_comment
from ..analysis.words import place
from ..recording.guards import plain_source, split_comment
from ..shared.failed_guard import guarded, is_on_stack, source_words, without_stack_names
from .rules import Change, RemedyTemplate, Rule

_MOST_SHOWN = 3
_KEY_OF = re.compile(r"list\(dict\.keys\((.+)\)\)\[\d+\]")
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_LONGEST_CHECK = 120
_IS_NUMBER = re.compile(r"-?\d[\d.e+-]{0,30}|(?:<class ')?(?:int|float)(?:'>)?")
_OF_ALIASES = re.compile(
    r"\w{1,100} is (?!None\b)(\w{1,100})|Duplicate tensors found: \[\"\w+\", \"(\w+)\".*"
)
# Source: torch/_dynamo/external_utils.py (wrap_inline) and DistributedDataParallel.forward, 2.8 to 2.15.
_OF_ALL_ARGUMENTS = re.compile(r"(?:args|inputs)\[(\d{1,9})\]")
# Source: torch/optim/optimizer.py (param_groups); what the user calls the optimizer stands in front.
_OF_A_PARAM_GROUP = re.compile(r"\bparam_groups\[\d{1,9}\]\[")
_LEARNING_RATE = re.compile(r"\bparam_groups\[\d{1,9}\]\[['\"]lr['\"]\]$")
# What the code made of a number, as torch writes it: `(1.2*sigma)`; and how it writes a negative value.
_CALCULATED = re.compile(r"\(.{1,200}(?:[*/]| [-+] ).{1,200}\)")
_FRACTION = re.compile(r"\(?-?\d{1,30}\.\d{0,30}(?:e[-+]?\d{1,4})?\)?")
_BRANCH = re.compile(r"(?:if|elif|while)\b|.{1,300}\bif\b.{1,300}\belse\b")

_OF_A_HELPER = (
    "; where nothing uses what the function of that line gives, move the whole call of that function"
)


def is_kind(*kinds: str) -> Callable[[RecompileCause], bool]:
    """A test whether what differed is one of these."""
    return lambda cause: cause.kind in kinds


def is_between_graphs(cause: RecompileCause) -> bool:
    """Whether what varies is a result of a graph break's line, which has no name of the user's."""
    return (cause.source or "").startswith("___")


def is_branch(cause: RecompileCause) -> bool:
    """Whether the line decides what is computed."""
    return _BRANCH.match(cause.line) is not None


def is_calculated_with(cause: RecompileCause) -> bool:
    """Whether a number must be known: a factor, or what a function of `math` is given.

    A float that torch guards by what the code made of it was dynamic up to the line that needs it.
    """
    is_made = cause.kind == "value" and _CALCULATED.fullmatch(cause.source or "") is not None
    if is_made and cause.values and all(map(_FRACTION.fullmatch, cause.values)):
        return True
    is_factor = cause.is_float or (cause.is_int and BY_MATH.search(cause.line) is not None)
    return is_factor and (cause.is_needed_as_number or is_in_an_expression(cause))


def is_in_an_expression(cause: RecompileCause) -> bool:
    """Whether another version was compiled for what the code calculates from this number."""
    return cause.kind == "value" and calculated_from(cause, causes_of(cause.frame)) is not None


def range_of_a_library(cause: RecompileCause) -> str:
    """The sizes for which code of a library has one way to compute, in words; "" where none decides."""
    is_of_library = cause.deciding is not None and is_library(cause.deciding.place)
    return range_of(cause) if is_of_library else ""


def is_flag(cause: RecompileCause) -> bool:
    """Whether all values that are known are True or False."""
    return cause.kind == "value" and bool(cause.values) and {*cause.values} <= {"True", "False"}


def is_learning_rate(cause: RecompileCause) -> bool:
    """Whether what varies is the learning rate of an optimizer, which may be a tensor as well."""
    return cause.is_float and _LEARNING_RATE.search(cause.source or "") is not None


def is_scheduled(cause: RecompileCause) -> bool:
    """Whether what varies is another number of an optimizer than its learning rate."""
    is_number = cause.is_float and _OF_A_PARAM_GROUP.search(cause.source or "") is not None
    return is_number and not is_learning_rate(cause)


def is_setting_of_torchs(cause: RecompileCause) -> bool:
    """Whether it is a number on a module that a line calls, and does not read itself."""
    name = (cause.source or "").rpartition(".")[2]
    is_read = re.search(rf"\.{re.escape(name)}\b", cause.line) is not None
    return cause.is_float and cause.is_of_module and cause.is_needed_as_number and not is_read


def one_remedy(
    when: Callable[[RecompileCause], bool],
    text: str,
    change: Callable[[RecompileCause], Change | None] | None = None,
    may_change: str = "",
    *,
    cures: tuple[str, ...] = (),
    not_for: tuple[str, ...] = (),
    is_further: bool = False,
) -> Rule[RecompileCause]:
    """The rule for recompiles that has one remedy."""
    remedy = RemedyTemplate(text, cures, change, may_change, not_for=not_for)
    return Rule(when=when, remedies=(remedy,), is_further=is_further)


def _marked(cause: RecompileCause) -> str:
    """Calls of mark_dynamic for a size and all sizes equal to it: torch refuses to mark only one of them.

    A mark on a size that a line needs as a number would be an error.
    """
    fixed = fixed_sizes(cause.frame)
    varies = [(source, index) for source, index in cause.dynamic_sources if (source, index) not in fixed]
    sizes = [(plain_source(source), index) for source, index in varies if index is not None]
    named = dict.fromkeys([(cause.source, cause.index), *sizes])
    known = [(name, index) for name, index in named if name and not is_on_stack(name)]
    begin, call = cause.frame.place, cause.call
    if call is None or begin is None or not is_library(begin):
        marked = " and ".join(f"`torch._dynamo.mark_dynamic({name}, {index})`" for name, index in known)
        return f"{marked} on what is passed"
    passed = " and ".join(
        f"`torch._dynamo.mark_dynamic(…, {index})` on {_argument(name)}" for name, index in known
    )
    return f"{passed} of the call at {place(call.place)}"


def _argument(name: str) -> str:
    """What a library's function calls so, for who calls it: `args[0]` is the first argument."""
    found = _OF_ALL_ARGUMENTS.fullmatch(name)
    if found is None:
        return f"`{name}`"
    at = int(found[1])
    return f"the {_ORDINALS[at]} argument" if at < len(_ORDINALS) else f"argument {at + 1}"


def recompile_parts(cause: RecompileCause, change: Change | None) -> dict[str, str]:
    """Parts by name; `{values}` are in brackets, after a space, or nothing.

    `{typed}` are the assignments to make, `{instead}` an argument of the program's that the advice replaces.
    """
    assigned = (*change.environment, *change.settings, *change.arguments) if change is not None else ()
    failure = cause.failure
    walk = walk_of(cause) or ""
    lowering = cause.lowering or ""
    return {
        "what": what_varies(cause),
        "name": cause.source or "tensor",
        "marked": _marked(cause),
        "source": source_words(cause.source) if cause.source else "an input",
        "dictionary": source_words(keys_of(cause) or cause.source or "a dictionary"),
        "root": source_words(walk.partition(".")[0]),
        "walk": source_words(walk),
        "table": kept_key(cause) or asked_for(cause) or kept_index(cause) or "",
        "values": _values_in_brackets(cause),
        "instead": " in place of `dynamic=False`" if cause.dynamic is False else "",
        "all": "all but 0 and 1 of" if cause.was_0_or_1 or _is_0_or_1(cause) else "all of",
        "expected": (failure.expected if failure is not None else None) or "named",
        "check": _short(without_stack_names(failure.check)) if failure is not None else "",
        "range": range_of(cause),
        "lowering": f"`{lowering}`" if lowering.isidentifier() else lowering,
        "hint": (failure.hint if failure is not None else None) or "",
        "typed": " ".join(f'{each.name}="{each.value}"' for each in assigned),
        "count": str(cause.functions_with_this_code or ""),
        "compiling": _compiling(cause),
        "function": f"`{cause.frame.shown_name}`",
        "caller": f"`{caller.method or caller.name}`" if (caller := cause.eager_caller) else "a function",
        "whole_call": _OF_A_HELPER if _is_in_another_function(cause) else "",
        "line": f"`{without_comment(cause.line)}`" if cause.line else f"line {place(cause.place)}",
    }


def keys_of(cause: RecompileCause) -> str | None:
    """The dictionary of which torch has compiled for the names of its keys, in their order.

    Source: torch/_dynamo/source.py (ConstDictKeySource.name), read in 2.13.
    """
    found = _KEY_OF.fullmatch(cause.source or "")
    return found[1] if found is not None else None


def _is_0_or_1(cause: RecompileCause) -> bool:
    """Whether an integer was 0 or 1 in some calls, which torch compiles separately; not one on a module."""
    return cause.is_int and not cause.is_of_module and bool({"0", "1"} & {*cause.values})


def _compiling(cause: RecompileCause) -> str:
    """The calls of torch.compile, or of a module's `compile`, that made the frame's versions."""
    places = sorted({place(call.place) for call in cause.frame.compile_calls})
    if not places or len(places) > _MOST_SHOWN:
        return "`torch.compile`"
    return f"the call{'s' if len(places) > 1 else ''} of `compile` at {', '.join(places)}"


def _is_in_another_function(cause: RecompileCause) -> bool:
    """Whether the line is not one of the compiled function: it stands before that, or in another file."""
    begin, line = cause.frame.place, cause.place
    return begin is not None and line is not None and (line.file != begin.file or line.line < begin.line)


def walk_of(cause: RecompileCause) -> str | None:
    """What shows that the code walks through the argument that differed: `tree.left.left`; else None."""
    root = _root(cause.source or "")
    return next((each for each in cause.frame.walks if _root(each) == root), None)


def _root(source: str) -> str:
    return re.split(r"\W", source, maxsplit=1)[0]


def asked_for(cause: RecompileCause) -> str | None:
    """The dictionary that the line of the guard asks for what is guarded; None where it asks none."""
    source = cause.source or ""
    key = f"self.{source.rpartition('.')[2]}" if cause.is_of_module else source
    return looked_up_in(cause.line_of_guard, key)


def kept_key(cause: RecompileCause) -> str | None:
    """The dictionary that the function asks for what its object keeps, where that differed; else None."""
    owner, _, name = (cause.source or "").rpartition(".")
    if not owner or cause.place is None or cause.kind not in ("value", "identity"):
        return None
    key = f"self.{name}"
    lines = lines_of_function(cause.frame.records.process, cause.place)
    return next(filter(None, (looked_up_in(line.strip(), key) for line in lines)), None)


def kept_index(cause: RecompileCause) -> str | None:
    """What the line of the guard takes an entry of by a number that an object keeps; None where by none.

    For an entry of a list torch needs the number itself, whatever is set to be dynamic (run with 2.13).
    """
    is_kept = cause.is_int and "." in (cause.source or "")
    return indexed_by_a_name(cause.line_of_guard) if is_kept else None


def is_read_as_well(cause: RecompileCause) -> bool:
    """Whether the code makes a list longer, and reads what is in it on another line."""
    name = cause.lengthened_there
    checks = chain(*cause.frame.checks.values())
    inside = (each for each in checks if plain_source(each.source).startswith(f"{cause.source}["))
    lines = {(each.user_code or "").strip() for each in inside} - {cause.line_of_guard}
    return name is not None and any(is_named_in(line, name) for line in lines)


def range_of(cause: RecompileCause) -> str:
    """The sizes for which one version serves, where torch guards a range: `16 to 4096`; else ""."""
    check = cause.bound.code if cause.bound is not None else cause.words
    return range_words(split_comment(check)[0].strip())


def _values_in_brackets(cause: RecompileCause) -> str:
    """` (8, 4, 1)`: the first of the values that came; "" where none is known."""
    values = cause.values_that_came
    if len(values) < 2:
        return f" ({values[0]} and others)" if values else ""
    return f" ({', '.join(values[:_MOST_SHOWN])}{', …' if len(values) > _MOST_SHOWN else ''})"


def what_varies(cause: RecompileCause) -> str:
    """What varies, as the start of a sentence: the size of `x` at dimension 0."""
    if cause.kind == "size":
        return guarded(cause.kind, cause.source, cause.index)
    if cause.kind == "relation of sizes" and cause.failure is not None:
        return f"whether `{without_stack_names(cause.failure.check)}`"
    return source_words(cause.source) if cause.source else "an input"


def _short(check: str) -> str:
    return check if len(check) <= _LONGEST_CHECK else check[:_LONGEST_CHECK] + "…"


def is_none(cause: RecompileCause) -> bool:
    """Whether a value is None in some calls."""
    return cause.kind in ("value", "type") and ("None" in cause.values or "NoneType" in cause.values)


def is_none_or_tensor(cause: RecompileCause) -> bool:
    """Whether a value is None in some calls, and known to be a tensor in others."""
    return is_none(cause) and any("tensor" in each.lower() or each == "Parameter" for each in cause.values)


def is_number_of_an_enum(cause: RecompileCause) -> bool:
    """Whether a member of an enumeration varies, and torch made its value dynamic, which is a number then.

    Source: enum.py (Enum.value).
    """
    value = f"{cause.source}._value_"
    return cause.kind == "identity" and any(
        value == plain_source(each.source) for each in cause.frame.symbols
    )


def is_number_or_tensor(cause: RecompileCause) -> bool:
    is_of_both = cause.kind in ("value", "type") and any("tensor" in each.lower() for each in cause.values)
    return is_of_both and any(_IS_NUMBER.fullmatch(each) for each in cause.values)


def given_twice(cause: RecompileCause) -> str | None:
    """The second of two arguments that are one tensor in some calls only; None for any other cause.

    Source: torch/_dynamo/guards.py (DUPLICATE_INPUT), torch/csrc/dynamo/guards.cpp (NO_TENSOR_ALIASING).
    """
    found = _OF_ALIASES.fullmatch(cause.words)
    return found and (found[1] or found[2])
