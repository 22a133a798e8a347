"""The guards of cache entries, and why entries could not be used."""

from collections.abc import Container
from dataclasses import replace

from ..model import CompileId, Guard, GuardFailure, GuardSet, Process, RecompileReasons, function_of
from ..shared.records import GuardsMade
from .begun import BegunCompiles
from .guard_text import parse_guard_tree
from .payloads import MOST_VALUES, Handler, place_of
from .recompile_text import parse_guard_failure, plain_source
from .records import Damaged, Record
from .structured import structured

_MOST_REASONS = 10_000  # for one recompile: torch has one for each cache entry, of which it allows few
_MOST_KEPT = 64 << 20  # bytes of guards that wait for a recompile of their frame
_OF_SIZES = ".size()["


def guards_of_function(name: str) -> str:
    """What to ask the reader for where only the guards of functions of this name are wanted."""
    return f"{GuardsMade.NAME} {name}"


class GuardBuilder:
    """Fills `guard_sets`, `recompile_reasons` and `recompiled_entries`."""

    def __init__(self, process: Process, begun: BegunCompiles, contents: Container[str] = ()) -> None:
        self._process = process
        self._contents = contents
        self._begun = begun
        self._kept: list[tuple[CompileId, Record]] = []
        self._kept_bytes = 0

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            "recompile_reasons": self._recompile_reasons,
            "dynamo_cpp_guards_str": self._keep,
            GuardsMade.NAME: self._guards_if_wanted,
        }

    def handlers_of_large(self) -> dict[str, Handler]:
        """The handler of each kind of large record that is only read when a report needs it."""
        return {GuardsMade.NAME: self._guards, "dynamo_cpp_guards_str": self._guard_tree}

    def finish(self) -> None:
        """Read what bears on recompiles in the guards of frames that were recompiled: of others, nothing."""
        failed: dict[CompileId, set[str]] = {}
        for reasons in self._process.recompile_reasons:
            for failure in reasons.failures:
                if failure.entry is not None:
                    sources = failed.setdefault(failure.entry.of_frame, set())
                    sources |= {failure.source} if failure.source is not None else set()
        for compile_id, record in self._kept if failed else ():
            if compile_id.of_frame in failed:
                self._read_again(compile_id, record, failed[compile_id.of_frame])
        self._kept.clear()

    def _read_again(self, compile_id: CompileId, record: Record, sources: set[str]) -> None:
        try:
            text = record.payload() or ""
        except Damaged as error:
            self._process.note_damage(f"dynamo_cpp_guards_str: {error}")
            return

        def bears_on_them(source: str, check: str) -> bool:
            plain = plain_source(source)
            # What is in a container has the line that its length has not.
            return _OF_SIZES in check or plain in sources or plain.rpartition("[")[0] in sources

        checks, _ = parse_guard_tree(text, bears_on_them)
        self._process.recompiled_entries.append(GuardSet(compile_id, checks=checks))

    def _keep(self, record: Record) -> None:
        """Set it aside: whether its frame is compiled again is not known yet, and reading it costs."""
        compile_id = self._begun.id_of(record)
        if compile_id is None or self._kept_bytes + record.size > _MOST_KEPT:
            return
        kept = record.kept()
        if kept is not None:
            self._kept.append((compile_id, kept))
            self._kept_bytes += record.size

    def failure(self, reason: str) -> GuardFailure:
        """Why an entry could not be used, from torch's sentence."""
        failure = parse_guard_failure(reason)
        if failure.entry is None:
            return failure
        return replace(failure, entry=failure.entry._replace(generation=self._begun.generation))

    def _guard_tree(self, record: Record) -> GuardSet | None:
        self._keep(record)
        checks, latency = parse_guard_tree(record.payload() or "")
        guard_set = GuardSet(self._begun.id_of(record), None, checks, latency)
        self._process.guard_sets.append(guard_set)
        return None if self._process.is_ours else guard_set  # ours has more to say, in the next record

    def _guards_if_wanted(self, record: Record) -> GuardSet | None:
        """Those of a function that was asked for by its name."""
        frame = self._begun.frame(self._begun.id_of(record))
        if frame is None or guards_of_function(function_of(frame.function)) not in self._contents:
            return None
        return self._guards(record)

    def _guards(self, record: Record) -> GuardSet:
        compile_id = self._begun.id_of(record)
        sets = self._process.guard_sets
        if not (sets and sets[-1].compile_id == compile_id and sets[-1].guards is None):
            sets.append(GuardSet(compile_id))
        sets[-1].guards = tuple(
            Guard(
                type=guard["type"],
                source=guard["source"],
                scope=guard["scope"],
                code=tuple(guard["code"]),
                place=place_of(guard),
            )
            for guard in structured(GuardsMade, record, MOST_VALUES).guards
        )
        return sets[-1]

    def _recompile_reasons(self, record: Record) -> None:
        """A list of texts; a text alone where there is one cache entry (torch/_dynamo/guards.py)."""
        try:
            reasons = record.json_payload()
        except Damaged:
            reasons = record.payload() or ""
        reasons = reasons if isinstance(reasons, list) else [reasons]
        if len(reasons) > _MOST_REASONS:
            raise Damaged(f"more than {_MOST_REASONS:,} reasons")
        failures = tuple(self.failure(str(reason)) for reason in reasons)
        self._process.recompile_reasons.append(RecompileReasons(self._begun.id_of(record), failures))
