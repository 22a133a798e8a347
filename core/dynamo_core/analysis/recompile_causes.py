"""Why a frame was recompiled: its recompiles grouped by what differed, and what is known about that."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..model import (
    Compile,
    CompileId,
    Frame,
    GuardCheck,
    GuardFailure,
    Place,
    Specialization,
    StackFrame,
    Symbol,
)
from ..recording.guards import is_on_parameter, plain_source
from ..shared.failed_guard import sizes_in
from ..shared.quick_dataclass import dataclass
from .guard_failures import (
    ANOTHER_BACKEND,
    deciding_line,
    deciding_line_of,
    is_0_or_1_apart,
    is_constraint,
    is_not_0_or_1,
    lengthened_by,
    lowering_of,
    what_tells_apart,
)
from .recompile_lines import is_made_of, lines_of_expression
from .recompile_sizes import adds_a_float, is_why, made_dynamic, sizes_along_with, sizes_compiled_for
from .recompiles import FrameRecompiles, functions_with_one_code
from .source_lines import is_user_line, leads_to, needs_the_number
from .summary import frame_of
from .words import DTYPES, version_numbers

_FLAGS = {"0": "False", "1": "True"}
_DUCK_SIZING = "duck sizing"  # in torch's comment on a check
_NUMBER = re.compile(r"-?\d{1,20}")
_FLOAT = re.compile(r"-?(?:\d{1,30}\.\d{0,30}(?:e[-+]?\d{1,4})?|\d{1,30}e[-+]?\d{1,4}|inf|nan)")
# A source that can stand in a comma-separated setting of torch's, which reads it as a name or a pattern.
_CAN_BE_LISTED = re.compile(r"[\w.\[\]']{1,400}")
# Dynamic along with the sizes, whether they change or not, and not guarded on where they are not dynamic.
_ALONG_WITH = re.compile(r"\.storage_offset\(\)$|\.stride\(\)\[\d+\]$")
_HELD = ("identity", "type")  # what functions of one code hold is another object, or of another type


@dataclass(frozen=True)
class RecompileCause:
    """What differed in some recompiles of a frame, compared with the cache entry that came nearest.

    `kind` is that of the `GuardFailure`, or "backend" for another call of torch.compile, or "not recorded"
    where torch does not say. A size is a "size" whether it is checked as a number or by a relation. `met` are
    the recompiles, each with the guard that failed.
    """

    frame: FrameRecompiles
    kind: str
    source: str | None
    index: int | None
    met: tuple[tuple[Compile, GuardFailure | None], ...]

    @property
    def compiles(self) -> tuple[Compile, ...]:
        """The recompiles that this cause led to."""
        return tuple(compile_ for compile_, _ in self.met)

    @property
    def failures(self) -> list[GuardFailure]:
        """The guard that failed in each recompile."""
        return [failure for _, failure in self.met if failure is not None]

    @property
    def words(self) -> str:
        """Torch's words on the guard that failed in the first recompile; "" where it says nothing."""
        return "" if self.failure is None else self.failure.check

    @property
    def failure(self) -> GuardFailure | None:
        """The guard that failed in the first recompile."""
        return next(iter(self.failures), None)

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes this cause from others in every run, so that it holds no values."""
        failure = self.failure
        if self.kind == "not recorded" or failure is None:
            return (self.kind, self.compiles[0].recompile_reason or "")
        if self.kind == "backend":
            return (ANOTHER_BACKEND,)
        if self.kind == "other" or self.source is None:
            return (self.kind, failure.check)
        return (self.kind, self.source, "" if self.index is None else str(self.index))

    @cached_property
    def values(self) -> list[str]:
        """The value that was compiled for and those that the guard rejected, each once, in order."""
        known: dict[str, None] = {}
        for compile_, failure in self.met:
            if failure is not None:
                values = (failure.expected, self.actual(compile_, failure))
                known |= dict.fromkeys(value for value in values if value is not None)
        words = DTYPES if self.kind == "dtype" else _FLAGS if self.kind == "requires_grad" else {}
        return [words.get(value, value) for value in known]

    @cached_property
    def values_that_came(self) -> list[str]:
        """`values`; where torch names none of a size, the sizes that the versions were compiled for."""
        if self.values or self.kind != "size" or self.source is None or self.index is None:
            return self.values
        return sizes_compiled_for(self.frame, self.source, self.index)

    @property
    def call(self) -> StackFrame | None:
        """The user call site of the first recompile."""
        return self.frame.call(self.compiles[0])

    @cached_property
    def where(self) -> StackFrame | None:
        """The line that causes the recompiles: the one that needs a size as a number, or that of the guard.

        For a setting of the process or a mode of the model it is the call that was made under another one.
        In place of a line of a library it is the user's line that led there.
        """
        if self.kind == "backend":
            return self.frame.records.compiled_by.get(self.compiles[0].compile_id) or self.call
        is_of_mode = self.is_of_training or self.is_of_inference_mode or self.kind == "global state"
        found = self.call if is_of_mode or self.failure is None else self._innermost_own_line() or self.call
        return found or (None if self.failure is None else self.frame.line_of(self.failure))

    def _innermost_own_line(self) -> StackFrame | None:
        """The user's line within the compiled code that is nearest to the guard."""
        stacks = [] if self.specialization is None else [self.specialization.stack]
        lines = (self.deciding, None if self.failure is None else self.frame.line_of(self.failure))
        stacks += [(line,) for line in lines if line is not None]
        stacks += [each.stack for each in self.symbols if leads_to(self.deciding, each.stack)]
        stacks += [(line,) for line in lines_of_expression(self.frame, self.source)]
        own = (line for stack in stacks for line in reversed(stack) if is_user_line(line.place))
        begin = self.frame.place
        function = StackFrame(begin, self.frame.name or "", "") if begin and is_user_line(begin) else None
        return next(own, function) if self.lowering is None else function

    @property
    def lengthened_there(self) -> str | None:
        """The list or dictionary whose length is guarded, if the line of the guard changes that length."""
        return None if self.failure is None else lengthened_by(self.line_of_guard, self.failure)

    @property
    def line_of_guard(self) -> str:
        """The text of the line on which the failed guard is."""
        line = self.frame.line_of(self.failure) if self.failure is not None else None
        return "" if line is None else line.text

    @property
    def place(self) -> Place | None:
        """The place of the line that causes the recompiles, or else of the function."""
        return self.where.place if self.where is not None else self.frame.place

    @property
    def line(self) -> str:
        """The text of the line that causes the recompiles."""
        return self.where.text.strip() if self.where is not None else ""

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The symbols by which torch made the source dynamic, in any compile of the frame."""
        names = [self.source if self.kind == "value" else f"{self.source}.size()[{self.index}]"]
        if self.kind == "relation of sizes" and self.failure is not None:
            names = [f"{source}.size()[{index}]" for source, index in sizes_in(self.failure.check)]
        return [
            symbol
            for symbols in self.frame.records.symbols.of_frame(self.compiles[0].compile_id).values()
            for symbol in symbols
            if plain_source(symbol.source) in names
        ]

    @cached_property
    def full_source(self) -> str | None:
        """The source as torch's settings spell it."""
        failure = self.failure
        return self.frame.full_source(failure) if failure is not None and self.source else None

    @cached_property
    def specialization(self) -> Specialization | None:
        """The specialization where the program needs the size or value as a number; None if there is none."""
        if self.source is None or self.kind not in ("size", "value"):
            return None
        wanted = self.source if self.kind == "value" else f"{self.source}.size()[{self.index}]"
        # 0 and 1 torch compiles apart of itself.
        needed = (each for each in self.frame.specializations if each.stack or each.value not in ("0", "1"))
        found = next((each for each in needed if wanted in map(plain_source, each.sources)), None)
        return found if found is not None and is_why(found, wanted, self.frame, self.met) else None

    @cached_property
    def lowering(self) -> str | None:
        """What of Inductor's needs the very size, of which no line of the program is the cause; or None."""
        return own.lowering if (own := self.specialization) else lowering_of(self.failures, self.frame.checks)

    @cached_property
    def deciding(self) -> StackFrame | None:
        """The user's line that caused the failed check on the size or number; None if none did."""
        if self.lowering is not None:
            return None
        if self.bound is not None:
            line = deciding_line_of(self.bound)
            return None if line is None else self.frame.whole_line(*line)
        for compile_, failure in self.met if self.kind in ("size", "value") else ():
            if failure is None or failure.kind not in ("relation of sizes", "comparison"):
                continue
            if is_0_or_1_apart(failure, self.actual(compile_, failure)):
                continue
            line = deciding_line(failure.check, failure.user_code, failure.place, failure.remark)
            if line is not None:
                return self.frame.whole_line(*line)
        return None

    @cached_property
    def bound(self) -> GuardCheck | None:
        """The check on the size, in a version that made it dynamic, that an earlier size fails; or None."""
        met = ((each.compile_id, failure) for each, failure in self.met if failure and self.kind == "size")
        return next(filter(None, (self.frame.check_excluding(*each) for each in met)), None)

    def actual(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """The value that the guard rejected; for a size also from another entry's failed guard on it."""
        actual = self.frame.actual(compile_, failure)
        others = (
            other.actual
            for other in self.frame.failures(compile_)
            if other.kind == "size" and (other.source, other.dimension) == (self.source, self.index)
        )
        return actual if actual is not None or self.kind != "size" else next(others, None)

    @property
    def is_needed_as_number(self) -> bool:
        """Whether the program depends on the very size or number, so that it cannot be dynamic."""
        if self.deciding is not None:
            return True
        if self.specialization is not None:
            return not self.parameters_that_vary
        # Where torch has not tried to make it dynamic, the line shows whether it can be.
        is_fixed = self.kind == "value" and (self.is_of_module or self.is_global)
        is_text = any(value.startswith(("'", '"')) for value in self.values)
        is_known = bool(self.symbols) or is_text
        is_needed = is_fixed and not is_known and needs_the_number(self.line_of_guard, is_int=self.is_int)
        return is_needed or self.lowering is not None

    @cached_property
    def was_0_or_1(self) -> bool:
        """Whether the size was 0 or 1 in some calls: torch compiles these sizes separately."""
        if self.kind != "size":
            return False
        size = self.source, self.index
        checks = [each.check for each in self.frame.failures_after_freeze if size in sizes_in(each.check)]
        checks += (failure.check for failure in self.failures)
        return bool({"0", "1"} & set(self.values)) or any(map(is_not_0_or_1, checks))

    @cached_property
    def is_unconstrained(self) -> bool:
        """Whether the size was dynamic in some version, with no branch and no other size depending on it."""
        checks = (
            check
            for check in self.frame.size_checks
            if (self.source, self.index) in sizes_in(plain_source(check.code))
        )
        return bool(self.symbols) and not any(map(is_constraint, checks))

    @cached_property
    def is_int(self) -> bool:
        """Whether the value is an int in all calls."""
        return self.kind == "value" and bool(self.values) and all(map(_NUMBER.fullmatch, self.values))

    @cached_property
    def is_float(self) -> bool:
        """Whether the value is a float, perhaps an int in some calls."""
        if self.kind != "value" or self.is_int or not self.values:
            return False
        return all(_NUMBER.fullmatch(value) or _FLOAT.fullmatch(value) for value in self.values)

    @property
    def is_mixed(self) -> bool:
        """Whether the value was an int in some calls and a float in others."""
        return self.is_float and any(map(_NUMBER.fullmatch, self.values))

    @property
    def is_of_parameter(self) -> bool:
        """Whether the size is that of a parameter, or had to equal it; torch keeps those static."""
        return any(map(is_on_parameter, self.failures)) or bool(self.parameters_that_vary)

    @cached_property
    def parameters_that_vary(self) -> list[tuple[str, int]]:
        """The dimensions of parameters that differ with the size: for each its source and index."""
        is_on_one = any(map(is_on_parameter, self.failures))
        if self.kind != "size" or not (is_on_one or self.specialization):
            return []
        varying = self.frame.varying_parameters
        came = {each.entry: each.expected for each in self.failures}
        came |= {compile_.compile_id: self.actual(compile_, each) for compile_, each in self.met if each}
        equal = (
            all(came.get(at) in (None, size) for at, size in sizes.items()) for sizes in varying.values()
        )
        return list(varying) if is_on_one or any(equal) else []

    @property
    def is_of_module(self) -> bool:
        """Whether the source is an attribute of a module, where torch treats ints as constants."""
        source = self.source or ""
        return source.startswith("self.") or (self.kind == "value" and "._modules[" in source)

    @property
    def is_global(self) -> bool:
        """Whether the source is a global variable, or in one, where torch treats ints as constants."""
        return (self.source or "").startswith(("G[", "dict.__getitem__(G["))

    @cached_property
    def is_of_dict(self) -> bool:
        """Whether the source is a dictionary, judged by the checks on it."""
        # torch reports a dictionary's length with `!=` (torch/csrc/dynamo/guards.cpp, DictGuardManager).
        is_reported = " != " in (self.failure.check if self.failure is not None else "")
        return is_reported or self.source in self.frame.records.dictionaries

    @cached_property
    def is_duck_sizing(self) -> bool:
        """Whether two sizes share a symbol only because they were equal when the frame was compiled."""
        failure = self.failure
        if self.kind != "relation of sizes" or failure is None:
            return False
        return any(
            _DUCK_SIZING in check.code
            and plain_source(check.code.partition("  # ")[0]).strip() == failure.check
            for check in self.frame.size_checks
        )

    @cached_property
    def became_dynamic(self) -> bool:
        """Whether torch made the source dynamic in the last recompile, and did not specialize it again."""
        ids = {symbol.compile_id for symbol in self.symbols}
        made_dynamic = [compile_ for compile_ in self.compiles if compile_.compile_id in ids]
        return self.specialization is None and made_dynamic[:1] == [self.compiles[-1]]

    @cached_property
    def float_became_dynamic(self) -> bool:
        """Whether torch made a float dynamic in the same recompile; no setting makes one dynamic by name."""
        return adds_a_float(self.frame, self.compiles)

    @cached_property
    def also_changed(self) -> list[str]:
        """Other numbers that torch made dynamic in the same recompiles, since they had changed as well."""
        recompiles = {compile_.compile_id for compile_ in self.compiles}
        added: dict[str, None] = {}
        known = {self.source}
        symbols_of_frame = self.frame.records.symbols.of_frame(self.compiles[0].compile_id)
        for compile_id, symbols in symbols_of_frame.items():
            sources = [plain_source(symbol.source) for symbol in symbols]
            if compile_id in recompiles:
                added |= dict.fromkeys(sources)
            else:
                known.update(sources)
        known.update(source for source in added if sizes_in(source) or _ALONG_WITH.search(source))
        return [source for source in added if source not in known]

    @cached_property
    def eager_caller(self) -> Frame | None:
        """The caller that fell back to eager, so that this frame is compiled by itself; None if none did."""
        return self.frame.eager_caller(self.compiles)

    @property
    def is_of_training(self) -> bool:
        """Whether the source is the `training` flag, which `train()` and `eval()` set."""
        return (self.source or "").endswith(".training")

    @property
    def is_of_grad_mode(self) -> bool:
        """Whether all that differed is whether gradients were recorded."""
        return self.kind == "global state" and all("grad_mode" in f.check for f in self.failures)

    @cached_property
    def is_of_inference_mode(self) -> bool:
        """Whether the calls themselves were inside of `torch.inference_mode` and outside of it.

        There tensors have other dispatch keys, wherever they were made; those made there, everywhere.
        """
        if not (self.kind == "dispatch keys" or self.is_of_grad_mode):
            return False
        return all(
            failure is not None and self._modes_differ(failure.entry, compile_.compile_id)
            for compile_, failure in self.met
        )

    def _modes_differ(self, one: CompileId | None, other: CompileId | None) -> bool:
        frames = [self.frame.records.frames.get(each) for each in (one, other)]
        return {None if frame is None else frame.in_inference_mode for frame in frames} == {True, False}

    @cached_property
    def functions_with_this_code(self) -> int | None:
        """How many functions that are compiled apart share this code, at least; None where none do."""
        is_wrapped = self.frame.name == "inner" and self.source in ("args", "kwargs")  # torch's wrap_inline
        holds = self.is_of_module or ".__closure__[" in (self.source or "") or is_wrapped
        return functions_with_one_code(self.frame, self.met) if holds or self.kind in _HELD else None

    @property
    def is_of_gradients_in_training(self) -> bool:
        """Whether a tensor requires a gradient in some calls only, in a program that trains.

        What a layer has computed requires one there, what comes from the data does not.
        """
        is_gradient = self.kind == "requires_grad" and not self.also_changed
        return self.frame.records.trains and is_gradient and self.eager_caller is None

    @cached_property
    def needs_both_versions(self) -> bool:
        """Whether each version is needed: there is nothing to fix.

        So it is for training and evaluating, for a layer's input and the data, and for functions of one code,
        unless they differ in the sizes of parameters alone.
        """
        if self.functions_with_this_code is not None:
            return self.frame.limit is None and not self.is_of_parameter
        if not self.frame.records.trains:
            return False
        is_of_mode = self.is_of_grad_mode or self.is_of_training or self.kind == "dispatch keys"
        return is_of_mode or self.is_of_gradients_in_training

    @property
    def is_whole_graph(self) -> bool:
        """Whether a graph break would be an error (`fullgraph=True`)."""
        return frame_of(self.compiles[0].compile_id) in self.frame.records.whole_graphs

    @property
    def dynamic(self) -> bool | None:
        """The argument `dynamic` of torch.compile."""
        return self.compiles[0].dynamic

    @property
    def is_captured(self) -> bool:
        """Whether the program was compiled by `dynamo run`, and never calls torch.compile."""
        return self.frame.process.entire.is_captured_now

    @cached_property
    def version(self) -> tuple[int, int]:
        """The version of torch; (0, 0) where it was not recorded."""
        return version_numbers(self.frame.process.torch_version)

    @cached_property
    def dynamic_sources(self) -> list[tuple[str, int | None]]:
        """The sources, with dimensions, that must be dynamic from the start for one version to be enough.

        These are what the guard failed on and what torch made dynamic in the same recompile. Empty where the
        name of one of them cannot be written in a list.
        """
        found: dict[tuple[str, int | None], None] = {}
        failure = self.failure
        if failure is not None and self.kind == "relation of sizes":
            found = dict.fromkeys(self._sizes_related_by(failure.check))
        elif self.full_source is not None:
            found[self.full_source, self.index] = None
        others = sizes_along_with(self.frame, self.source, self.index)
        found |= dict.fromkeys([*others, *self.parameters_that_vary])
        if self.dynamic is not True:
            found |= dict.fromkeys(made_dynamic(self.frame, self.compiles))
        return list(found) if all(_CAN_BE_LISTED.fullmatch(source) for source, _ in found) else []

    def _sizes_related_by(self, check: str) -> Iterator[tuple[str, int]]:
        """The sizes in a failed relation, with their sources as guards spell them in full."""
        spelled = {
            plain: full
            for each in self.frame.size_checks
            for full, plain in ((source, plain_source(source)) for source, _ in sizes_in(each.code))
        }
        for source, index in sizes_in(check):
            if source in spelled:
                yield spelled[source], index


def causes_of(frame: FrameRecompiles) -> list[RecompileCause]:
    """The causes of a frame's recompiles, in the order in which they were met."""
    by_cause: dict[tuple[object, ...], list[tuple[Compile, GuardFailure | None]]] = {}
    for compile_ in frame.compiles:
        failure = frame.nearest(compile_)
        by_cause.setdefault(what_tells_apart(compile_, failure), []).append((compile_, failure))
    found = []
    for (kind, source, index, *_), met in by_cause.items():
        assert isinstance(kind, str)
        found.append(
            RecompileCause(
                frame,
                kind,
                source if isinstance(source, str) else None,
                index if isinstance(index, int) else None,
                tuple(met),
            )
        )
    return found


def calculated_from(cause: RecompileCause, causes: Iterable[RecompileCause]) -> RecompileCause | None:
    """The cause on what the code calculates from the number of this one; None where none of these is."""
    values = (each for each in causes if cause.kind == each.kind == "value")
    return next((each for each in values if is_made_of(each.source, cause.source)), None)
