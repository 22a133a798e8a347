"""Which frames were compiled again, which guard failed each time, and on which values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ..model import Compile, CompileId, GuardCheck, GuardFailure, Place, Process, Recording, Symbol
from .guard_places import whole_places
from .guard_words import split_note
from .remedies.advice import Advice
from .remedies.recompiles import plain_source, recompile_advice

_TYPE = re.compile(r", type=<class '([^']+)'>$")
_LIMIT = re.compile(r"recompile_?\s?limit|cache_size_limit", re.IGNORECASE)


class CompileRecords:
    """What a process recorded of its compiles, by compile id: found once, however many recompiles ask."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @cached_property
    def failures(self) -> Mapping[CompileId | None, tuple[GuardFailure, ...]]:
        """Why each cache entry could not be used, the newest entry first."""
        # The first record of a compile is the one that counts.
        return {reasons.compile_id: reasons.failures for reasons in reversed(self._process.recompile_reasons)}

    @cached_property
    def checks(self) -> Mapping[CompileId | None, tuple[GuardCheck, ...]]:
        """The guards of the cache entry that a compile made."""
        checks: dict[CompileId | None, tuple[GuardCheck, ...]] = {}
        for guard_set in self._process.guard_sets:
            checks[guard_set.compile_id] = checks.get(guard_set.compile_id, ()) + (guard_set.checks or ())
        return checks

    @cached_property
    def symbols(self) -> Mapping[CompileId | None, list[Symbol]]:
        """What a compile made dynamic."""
        symbols: dict[CompileId | None, list[Symbol]] = {}
        for symbol in self._process.symbols:
            symbols.setdefault(symbol.compile_id, []).append(symbol)
        return symbols

    @cached_property
    def whole_files(self) -> Mapping[str, str | None]:
        """The files that the names in guards, which torch cuts short, stand for."""
        return whole_places(self._process)


@dataclass(frozen=True)
class FrameRecompiles:
    """The recompiles of one frame. `limit` is the compile that torch refused: it ran eager after that."""

    process: Process
    compiles: tuple[Compile, ...]
    limit: Compile | None
    records: CompileRecords

    @property
    def name(self) -> str | None:
        """The function's name."""
        return next((compile_.name for compile_ in self.compiles if compile_.name), None)

    @property
    def place(self) -> Place | None:
        """Where the function begins."""
        return next((compile_.place for compile_ in self.compiles if compile_.place), None)

    @property
    def seconds(self) -> float:
        """What they cost."""
        return sum(compile_.seconds or 0.0 for compile_ in self.compiles)

    @property
    def symbols(self) -> list[Symbol]:
        """What its recompiles made dynamic, in order."""
        again = dict.fromkeys(compile_.compile_id for compile_ in self.compiles)
        return [symbol for compile_id in again for symbol in self.records.symbols.get(compile_id, ())]

    @property
    def advice(self) -> list[Advice]:
        """What to do about them."""
        newest = [failures[0] for compile_ in self.compiles if (failures := self.failures(compile_))]
        return recompile_advice(newest, self.symbols)

    def failures(self, compile_: Compile) -> tuple[GuardFailure, ...]:
        """Why each cache entry could not be used, the newest entry first; empty where it was not recorded."""
        return self.records.failures.get(compile_.compile_id, ())

    def place_of(self, failure: GuardFailure) -> Place | None:
        """The user's line: torch names it, or the failed entry's own guard on the same source has it."""
        if failure.place is not None:
            return failure.place
        for check in self.records.checks.get(failure.entry, ()):
            if check.place and plain_source(check.source) == failure.source:
                cut = check.place.file
                return check.place._replace(file=self.records.whole_files[cut] or cut)
        return None

    def actual(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """What came instead: torch says it, or the entry that was then compiled is guarded on it."""
        if failure.actual is not None or failure.kind != "value":
            return failure.actual
        for symbol in self.records.symbols.get(compile_.compile_id, ()):
            if plain_source(symbol.source) == failure.source:
                return symbol.hint
        checks = self.records.checks.get(compile_.compile_id, ())
        same = [check for check in checks if plain_source(check.source) == failure.source]
        return next((value for check in same if (value := _demanded(check))), None)


def frames_recompiled(recording: Recording) -> list[FrameRecompiles]:
    """The frames that were compiled again, in the order in which that began."""
    found = []
    for process in recording.processes:
        by_frame: dict[object, list[Compile]] = {}
        for compile_ in process.recompiles:
            by_frame.setdefault(_frame_of(compile_.compile_id), []).append(compile_)
        records = CompileRecords(process)
        for compiles in by_frame.values():
            limit = next((c for c in compiles if is_recompile_limit(c.fail_reason)), None)
            found.append(FrameRecompiles(process, tuple(compiles), limit, records))
    return found


def _frame_of(compile_id: CompileId | None) -> object:
    return compile_id and compile_id._replace(compile=None)


def is_recompile_limit(reason: str | None) -> bool:
    """Whether torch refused to compile a frame once more, so that it runs eager from then on."""
    return bool(reason and _LIMIT.search(reason))


def _demanded(check: GuardCheck) -> str | None:
    """The value, or else the type, that a check lets pass."""
    code = split_note(check.code)[0]
    if code.startswith(f"{check.source} == "):
        return code.removeprefix(f"{check.source} == ")
    if check.type == "TENSOR_MATCH":
        return "a tensor"
    named = _TYPE.search(code)
    if named is None or check.type not in ("TYPE_MATCH", "ID_MATCH"):
        return None
    return "None" if named[1] == "NoneType" else f"of type {named[1].removeprefix('builtins.')}"
