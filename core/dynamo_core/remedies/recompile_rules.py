"""Advice for recompiles: the table of remedies, and those that need no edit (variables, settings, arguments).

Source: torch/compiler/config.py (dynamic_sources and unbacked_sources, read from the environment when torch
is imported; a dimension behind the name is understood from 2.13 on) and torch/_dynamo/config.py. Read with
2.8 to 2.13 and with the main branch before 2.15.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..analysis.guard_failures import is_0_or_1_apart
from ..analysis.recompile_causes import RecompileCause, causes_of
from ..analysis.recompile_sizes import is_equal_to_a_fixed_size
from ..shared.failed_guard import is_on_stack, without_stack_names
from .recompile_edits import (
    BETWEEN_GRAPHS,
    EDITS,
    OF_A_LEARNING_RATE,
    OF_WRAPPED_MODULES,
)
from .recompile_parts import (
    is_between_graphs,
    is_branch,
    is_in_an_expression,
    is_learning_rate,
    is_scheduled,
    kept_index,
    one_remedy,
    recompile_parts,
)
from .rules import INDEX_BY_A_NAME, Advice, Assignment, Change, Rule, advice_of, list_of_sources

_SLOWER = "code for any value can be slower than for one"
_PASS_DYNAMIC = (
    "pass `dynamic=True`{instead} to {compiling}: {what} takes several values{values}, and one version then "
    "serves {all} them."
)
_FOR_A_FLOAT = (
    "all sizes become dynamic as well; torch makes a number dynamic by itself once it has changed, and that "
    "one compile may cost less"
)
_OF_THAT_NAME = "it holds for every compiled function that has an argument of that name"
_DIMENSIONS_SINCE = (2, 13)  # `L['x']:0`; before, all dimensions of what is named
# With many frames or names, one argument of torch.compile is simpler than naming each source.
_MANY_FRAMES = 3
_MOST_NAMES = 4
# Source: torch/_dynamo/guards.py (Dimension Marking Guards), run with 2.13.
_OF_A_MARK = re.compile(
    r"_(?:dynamo_\w{1,40}_indices|has_dynamo_dim_marking) .{0,80}\bpresent on runtime tensor"
)
# Source: torch/_dynamo/variables/builder.py (is_dynamic_source): a name, or a pattern for its beginning.
_NAME_OF_A_PART = re.compile(r"(L\['self'\]\._modules\[')\w{1,99}('\]\.(\w{1,99}))")
_NUMBER_IN_A_LIST = re.compile(r"(?<=\b_modules\[')\d{1,9}(?='\])")
# As many values as torch keeps versions: there will probably be more, so a higher limit does not help.
_ALWAYS_ANOTHER = 8


def _sizes_can_be_dynamic(cause: RecompileCause) -> bool:
    return cause.kind == "size" and not cause.is_needed_as_number


def _can_be_dynamic(cause: RecompileCause) -> bool:
    is_number = cause.is_int and not cause.is_needed_as_number and kept_index(cause) is None
    return _sizes_can_be_dynamic(cause) or is_number or cause.is_duck_sizing


def _is_equal_to_a_fixed_size(cause: RecompileCause) -> bool:
    """Whether `dynamic=True` alone would not make the size dynamic."""
    entry = None if cause.failure is None else cause.failure.entry
    return (
        cause.kind == "size"
        and cause.index is not None
        and is_equal_to_a_fixed_size(cause.frame, entry, cause.source or "", cause.index)
    )


def _can_be_named(cause: RecompileCause) -> bool:
    has_names = bool(_names(cause)) and not is_between_graphs(cause)
    is_enough = has_names and (not cause.float_became_dynamic or _is_equal_to_a_fixed_size(cause))
    return _can_be_dynamic(cause) and is_enough and not _is_hardly_more_than_0_or_1(cause)


def _is_hardly_more_than_0_or_1(cause: RecompileCause) -> bool:
    """Whether there are fewer than two other sizes that could share one version."""
    return cause.was_0_or_1 and len(set(cause.values) - {"0", "1"}) < 2


def _is_0_or_1_apart(cause: RecompileCause) -> bool:
    """Whether a number that is dynamic was 0 or 1 each time that torch compiled for it again."""
    is_dynamic = cause.kind == "value" and bool(cause.symbols)
    return is_dynamic and all(
        failure is not None and is_0_or_1_apart(failure, cause.actual(compile_, failure))
        for compile_, failure in cause.met
    )


def _can_be_unbacked(cause: RecompileCause) -> bool:
    if cause.version < _DIMENSIONS_SINCE or _is_lowered(cause):
        return False
    is_sure = _sizes_can_be_dynamic(cause) and cause.is_unconstrained and not cause.is_whole_graph
    return is_sure and cause.was_0_or_1 and bool(_names(cause)) and not is_between_graphs(cause)


def _is_lowered(cause: RecompileCause) -> bool:
    """Whether Inductor compiles the frame: what it needs of a size is seen only when it comes to that.

    A reshape in attention asks for more than Dynamo's guards, and raises then (torch/_inductor/ir.py,
    _dynamic_reshape_indexer; run with 2.13).
    """
    frames = {each.compile_id.frame for each in cause.frame.compiles if each.compile_id is not None}
    return any(
        graph.backend == "inductor" and graph.compile_id is not None and graph.compile_id.frame in frames
        for graph in cause.frame.process.graphs
    )


def _by_argument(cause: RecompileCause) -> bool:
    """Whether `dynamic=True` makes the value dynamic: not a value that torch fixes, and not 0 or 1."""
    if cause.dynamic is True or _is_hardly_more_than_0_or_1(cause) or cause.is_needed_as_number:
        return False
    if is_in_an_expression(cause):
        return False
    if cause.kind == "size":
        return not (cause.is_of_parameter or _is_equal_to_a_fixed_size(cause))
    if cause.is_mixed:
        return False
    is_fixed = cause.is_int and (cause.is_of_module or cause.is_global)
    return (cause.is_int and not is_fixed) or (cause.is_float and cause.became_dynamic)


def _is_first_by_argument(cause: RecompileCause) -> bool:
    is_simpler = (
        cause.dynamic is False
        or cause.is_float
        or cause.float_became_dynamic
        or cause.frame.records.frames_that_vary >= _MANY_FRAMES
        or len(cause.dynamic_sources) > _MOST_NAMES
    )
    return not cause.is_captured and _by_argument(cause) and (is_simpler or not cause.dynamic_sources)


def _in_environment(cause: RecompileCause) -> Change:
    """Name all sources that vary in the frame, so that one version serves for all of them."""
    unbacked: dict[str, None] = {}
    dynamic: dict[str, None] = {}
    for other in causes_of(cause.frame):
        names = _names(other)
        if _can_be_unbacked(other):
            unbacked |= dict.fromkeys(names[:1])
            dynamic |= dict.fromkeys(names[1:])
        elif _can_be_named(other):
            dynamic |= dict.fromkeys(names)
    lists = {
        "TORCH_COMPILE_UNBACKED_SOURCES": list(unbacked),
        "TORCH_COMPILE_DYNAMIC_SOURCES": [name for name in dynamic if name not in unbacked],
    }
    return Change(
        environment=tuple(Assignment(name, list_of_sources(names)) for name, names in lists.items() if names)
    )


def _names(cause: RecompileCause) -> list[str]:
    """The names of the dynamic sources in torch's syntax; the source whose guard failed comes first.

    Of a number on a module of a list it is a pattern for all modules of that list, of which each has one; of
    one that the module counts itself, for all modules beside it.
    """
    has_dimensions = cause.version >= _DIMENSIONS_SINCE
    if cause.is_int and cause.is_of_module:
        return [_of_all_modules(source, cause.line_of_guard) for source, _ in cause.dynamic_sources]
    names = (
        source if index is None or not has_dimensions else f"{source}:{index}"
        for source, index in cause.dynamic_sources
        if not is_on_stack(source)
    )
    return list(dict.fromkeys(names))


def _of_all_modules(source: str, line: str) -> str:
    beside = _NAME_OF_A_PART.fullmatch(source)
    if beside is not None and re.match(rf"self\.{beside[3]} ?[-+]?=", line):
        return rf"{re.escape(beside[1])}\w+{re.escape(beside[2])}"
    parts = _NUMBER_IN_A_LIST.split(source)
    return source if len(parts) == 1 else r"\d+".join(map(re.escape, parts))


def _set_dynamic(cause: RecompileCause) -> Change:
    return Change(arguments=(Assignment("dynamic", "True"),))


def _set_config(name: str, value: str) -> Callable[[RecompileCause], Change]:
    return lambda cause: Change(settings=(Assignment(name, value),))


# Of a tensor without dimensions that is an index, torch takes the value out and guards it; no setting changes
# that (run with 2.13).
OF_AN_INDEX = one_remedy(  # a tensor without dimensions as an index
    lambda cause: (cause.source or "").endswith(".item()") and INDEX_BY_A_NAME.search(cause.line) is not None,
    "{line} takes an index out of a tensor without dimensions{values}, and each number is a version of its "
    "own: index by a tensor of one dimension, `table[t.reshape(1)][0]` in place of `table[t]`.",
    lambda cause: Change(edit="index kept a tensor"),
    cures=("recompile_timestep_of_a_schedule",),
    not_for=("recompile_int_index",),
)
OF_A_KEPT_INDEX = one_remedy(  # index that an object keeps
    lambda cause: kept_index(cause) is not None,
    "{source} is an index of `{table}`{values}, and each number is a version of its own: pass in the entry "
    "itself, `f(x, table[i])`, looked up where the function is called; or compile what calls it for each "
    "index, so that one graph has all of them.",
    cures=("recompile_cache_of_its_layer",),
)
# Before what makes a size dynamic by a name or an argument, which such a mark would contradict.
OF_MARKS: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # marked static
        lambda cause: cause.kind == "size" and any(map(cause.frame.is_marked_static, cause.failures)),
        "{what} takes several values{values}, and the program marks it by `torch._dynamo.mark_static`, "
        "which makes each a version of its own: take the mark off what varies.",
        cures=("recompile_marked_static",),
    ),
    one_remedy(  # marked in some calls
        lambda cause: cause.failure is not None and _OF_A_MARK.match(cause.failure.check) is not None,
        "a dimension was marked (`torch._dynamo.mark_dynamic`, `mark_static` and the like) in some calls "
        "only, and what was compiled without the mark is not used with it: mark it before the first call.",
        cures=("recompile_marked_later",),
    ),
)
SETTINGS: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # a size that the compiler needs
        lambda cause: cause.lowering is not None,
        "keep {what} to few values, by padding or in buckets: Inductor needs the very size{values} for "
        "{lowering}, dynamic or not, so that each is a version of its own. Or compile with "
        '`backend="aot_eager"` what has that operation.',
    ),
    one_remedy(  # a number that is 0 or 1 in some calls
        _is_0_or_1_apart,
        "let it be: torch compiles 0 and 1 apart, and one version serves all other values of {what}.",
    ),
    one_remedy(  # sizes 0 and 1
        _can_be_unbacked,
        "{what} takes several values{values}, and torch compiles 0 and 1 apart; nothing in the function "
        "depends on it: set `{typed}` in the program's environment, and one version serves all.",
        _in_environment,
        f"{_SLOWER}; a branch on the size would become a graph break; {_OF_THAT_NAME}",
        cures=("recompile_sizes_0_and_1", "recompile_one_first", "recompile_size_and_number"),
        not_for=("recompile_specialised_size", "recompile_size_threshold", "recompile_loop_over_size"),
    ),
    one_remedy(  # captured with dynamic sizes
        lambda cause: cause.is_captured and _by_argument(cause),
        "{what} takes several values{values}: `dynamo run --dynamic …` compiles one version for {all} "
        "them; in a torch.compile of your own that is `torch.compile(…, dynamic=True)`.",
        lambda cause: Change(options=("--dynamic",)),
        _SLOWER,
        cures=("recompile_captured_batch", "recompile_captured_generation", "recompile_captured_rate"),
        not_for=("recompile_specialised_size", "recompile_parameter_size", "recompile_counter_in_forward"),
    ),
    one_remedy(  # argument of torch.compile, for a float
        lambda cause: _is_first_by_argument(cause) and cause.is_float and cause.became_dynamic,
        _PASS_DYNAMIC,
        _set_dynamic,
        f"{_SLOWER}; {_FOR_A_FLOAT}",
        cures=("recompile_float_argument", "recompile_rate_on_module", "recompile_scale_in_a_dictionary"),
        not_for=("recompile_counter_in_forward",),
    ),
    one_remedy(  # argument of torch.compile
        _is_first_by_argument,
        _PASS_DYNAMIC,
        _set_dynamic,
        _SLOWER,
        cures=(
            "recompile_size_with_rate",
            "recompile_dynamic_false",
            "recompile_mask_of_sequences",
            "recompile_length_in_a_dictionary",
            "recompile_layer_given_as_argument",
            "recompile_normalized_observations",
            "recompile_reversed_gradient",
            "recompile_partial_in_a_loop",
        ),
        not_for=("recompile_specialised_size", "recompile_two_inputs", "recompile_counter_in_forward"),
    ),
    one_remedy(  # names of sizes that were equal
        lambda cause: cause.is_duck_sizing and _can_be_named(cause) and not is_branch(cause),
        "sizes that were equal when it was compiled were taken for one (`{check}`), and then they "
        "differed: set `{typed}` in the program's environment, and each is a size of its own.",
        _in_environment,
        _OF_THAT_NAME,
        cures=("recompile_two_inputs",),
        not_for=("recompile_size_threshold", "recompile_equal_sizes"),
    ),
    one_remedy(  # names in the environment
        lambda cause: (
            _can_be_named(cause)
            and not (cause.is_duck_sizing and is_branch(cause))
            and not (cause.is_of_parameter and len(cause.dynamic_sources) > _MOST_NAMES)
        ),
        "{what} takes several values{values}: set `{typed}` in the program's environment, and one "
        "version serves {all} them.",
        _in_environment,
        f"{_SLOWER}; {_OF_THAT_NAME}",
        cures=(
            "recompile_batch_size",
            "recompile_two_sizes",
            "recompile_nested_sizes",
            "recompile_parameter_size",
            "recompile_int_argument",
            "recompile_step_in_training",
            "recompile_counter_in_forward",
            "recompile_captured_counter",
            "recompile_layer_number",
            "recompile_global_int",
            "recompile_closure",
            "recompile_nearest_version",
            "recompile_count_of_updates",
            "recompile_new_mask",
            "recompile_parameters_of_a_list",
            "recompile_width_and_height",
            "recompile_batch_in_a_dataclass",
            "recompile_calls_counted_by_class",
            "recompile_root_of_a_size",
            "recompile_parameters_of_blocks",
            "recompile_sizes_of_parameters",
            "recompile_step_in_optimizer_state",
            "recompile_position_in_the_cache",
            "recompile_timestep_as_a_number",
            "recompile_lengths_as_a_list",
            "recompile_steps_of_each_layer",
            "recompile_counters_beside_each_other",
            "recompile_batch_as_large_as_features",
        ),
        not_for=("recompile_specialised_size", "recompile_size_threshold", "recompile_string_argument"),
    ),
    one_remedy(  # argument of torch.compile, where an edit is surer
        lambda cause: (
            (is_learning_rate(cause) or is_between_graphs(cause))
            and not cause.is_captured
            and _by_argument(cause)
        ),
        "pass `dynamic=True` to {compiling}: one version then serves {all} the values.",
        _set_dynamic,
        _SLOWER,
        is_further=True,
    ),
    one_remedy(  # sizes of parameters
        lambda cause: cause.is_of_parameter and _sizes_can_be_dynamic(cause),
        "set `torch._dynamo.config.force_parameter_static_shapes = False`: torch then makes the size of a "
        "parameter dynamic when it has changed once, as that of any tensor.",
        _set_config("torch._dynamo.config.force_parameter_static_shapes", "False"),
        _SLOWER,
        is_further=True,
    ),
    one_remedy(  # numbers on modules
        lambda cause: cause.is_int and cause.is_of_module and _can_be_dynamic(cause),
        "set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`: torch then makes a number on a "
        "module dynamic when it has changed once, as any other; or keep it in a buffer "
        "(`register_buffer(…, persistent=False)`): "
        "give it new values by `self.n = self.n + 1`, and do not change it in place, where the backward may "
        "need the former one.",
        _set_config("torch._dynamo.config.allow_unspec_int_on_nn_module", "True"),
        _SLOWER,
        is_further=True,
    ),
    one_remedy(  # mark the dimension
        lambda cause: (
            _can_be_named(cause)
            and cause.kind == "size"
            and not cause.is_of_parameter
            and not cause.was_0_or_1
        ),
        "call {marked}, before the call.",
        not_for=("recompile_specialised_size", "recompile_loop_over_size", "recompile_sizes_0_and_1"),
        is_further=True,
    ),
    one_remedy(  # more versions
        lambda cause: (
            cause.frame.limit is not None
            and len(cause.values) < _ALWAYS_ANOTHER
            and not _can_be_named(cause)
            and not _by_argument(cause)
        ),
        "if only few more come, let torch keep more versions than its 8: "
        "`torch._dynamo.config.recompile_limit = 64`.",
        _set_config("torch._dynamo.config.recompile_limit", "64"),
        "each version takes time to compile, and is looked at in each call",
        is_further=True,
    ),
)


# Source: torch/__init__.py (compile), whose argument `isolate_recompiles` is in 2.13; read and tried there.
OF_SHARED_CODE: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # functions with one code, counted apart
        lambda cause: cause.functions_with_this_code is not None and cause.version >= (2, 13),
        "pass `isolate_recompiles=True` to {compiling}: torch then counts the versions of each apart. "
        "{count} functions or modules that are compiled apart share the code of {function}, and torch "
        "counts theirs together. Or compile what calls all of them.",
        lambda cause: Change(arguments=(Assignment("isolate_recompiles", "True"),)),
        cures=("recompile_one_decorator", "recompile_shared_base_class", "recompile_layer_by_its_name"),
        not_for=("recompile_another_function", "recompile_enum_argument"),
    ),
    one_remedy(  # functions with one code
        lambda cause: cause.functions_with_this_code is not None,
        "{count} functions or modules that are compiled apart share the code of {function}, and torch counts "
        "their versions together: compile what calls all of them, or let torch keep as many "
        "(`torch._dynamo.config.recompile_limit`).",
    ),
)


OF_THREADS: Rule[RecompileCause] = one_remedy(  # compiled by two threads at once
    lambda cause: cause.kind == "made meanwhile",
    "call {function} once with such arguments before the threads begin: what is compiled then serves all.",
)


_COUNTS_AN_ENTRY = re.compile(r"[\w.]{1,100}\[.{1,200}\] [-+]= ")


def _is_counted_in_a_global_dictionary(cause: RecompileCause) -> bool:
    """Whether the line counts an entry of a global dictionary whose class is derived from `dict`.

    Source: torch/_dynamo/source.py (DictSubclassGetItemSource); no setting can list its name. Run with 2.13.
    """
    is_entry = (cause.source or "").startswith("dict.__getitem__(G[") and cause.is_int
    return is_entry and _COUNTS_AN_ENTRY.match(cause.line) is not None


OF_A_COUNTER: Rule[RecompileCause] = one_remedy(  # counted in a Counter, a defaultdict
    _is_counted_in_a_global_dictionary,
    "{line} counts in a global dictionary, and each count is a version of its own: move it out of the "
    "compiled code, behind the call{whole_call}.",
    cures=("recompile_counted_in_a_dictionary",),
)


def _is_of_a_new_class(cause: RecompileCause) -> bool:
    """Whether versions were compiled for several classes that have one name."""
    failures = [failure for _, failure in cause.met if failure is not None]
    names = {failure.expected for failure in failures}
    return cause.kind == "type" and len(names) == 1 and len({failure.entry for failure in failures}) > 1


OF_A_NEW_CLASS: Rule[RecompileCause] = one_remedy(  # a class that is made again
    _is_of_a_new_class,
    "the class of {source} (`{expected}`) is made again between the calls, and each time it is another type, "
    "with a version of its own: make the class once, outside of what is called again and again.",
    cures=("recompile_record_made_anew",),
)


OF_A_SET: Rule[RecompileCause] = one_remedy(  # members of a set
    lambda cause: cause.kind == "set",
    "{source} has other members in some calls: give it the same members in every call.",
)


OF_A_SCHEDULE: Rule[RecompileCause] = one_remedy(  # momentum or another number of an optimizer
    is_scheduled,
    "{source} changes from step to step{values}, and each value is a version of its own: leave the step of "
    "the optimizer to eager, outside of what is compiled. A schedule may change the momentum as well as the "
    "learning rate (OneCycleLR and CyclicLR do, unless `cycle_momentum=False` says otherwise).",
    cures=("recompile_momentum_by_a_schedule",),
)


# All remedies, the surest first. Each was tried with torch 2.13 on the programs that it names
# (tests/integration/test_first_advice.py).
TABLE: tuple[Rule[RecompileCause], ...] = (
    OF_WRAPPED_MODULES,
    *BETWEEN_GRAPHS,
    OF_A_LEARNING_RATE,
    OF_A_SCHEDULE,
    OF_AN_INDEX,
    OF_A_KEPT_INDEX,
    *OF_MARKS,
    *SETTINGS,
    *OF_SHARED_CODE,
    OF_THREADS,
    OF_A_NEW_CLASS,
    OF_A_COUNTER,
    OF_A_SET,
    *EDITS,
)
_MOST = 3


def recompile_advice(cause: RecompileCause) -> list[Advice]:
    """What to do about a cause, the surest advice first; none where separate versions are right."""
    if cause.needs_both_versions:
        return []
    advice = [each for _, each in advice_of(TABLE, cause, recompile_parts)]
    return [replace(each, text=without_stack_names(each.text)) for each in advice[:_MOST]]
