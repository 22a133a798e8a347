"""The guards of cache entries, and why entries could not be used."""

from dataclasses import replace

from ..model import Guard, GuardFailure, GuardSet, Process, RecompileReasons
from ..shared import names
from .begun import BegunCompiles
from .guard_text import parse_guard_tree
from .payloads import MOST_VALUES, Handler, place_of
from .recompile_text import parse_guard_failure
from .records import Damaged, Record

_MOST_REASONS = 10_000  # for one recompile: torch has one for each cache entry, of which it allows few


class GuardBuilder:
    """Fills `guard_sets` and `recompile_reasons`."""

    def __init__(self, process: Process, begun: BegunCompiles) -> None:
        self._process = process
        self._begun = begun

    def handlers(self) -> dict[str, Handler]:
        """Who takes which record."""
        return {"recompile_reasons": self._recompile_reasons}

    def handlers_of_large(self) -> dict[str, Handler]:
        """Who takes which record, if it is asked for."""
        return {names.GUARDS: self._guards, "dynamo_cpp_guards_str": self._guard_tree}

    def failure(self, reason: str) -> GuardFailure:
        """Why an entry could not be used, from torch's sentence."""
        failure = parse_guard_failure(reason)
        if failure.entry is None:
            return failure
        return replace(failure, entry=failure.entry._replace(generation=self._begun.generation))

    def _guard_tree(self, record: Record) -> GuardSet | None:
        checks, latency = parse_guard_tree(record.payload() or "")
        guard_set = GuardSet(self._begun.id_of(record), None, checks, latency)
        self._process.guard_sets.append(guard_set)
        return None if self._process.is_ours else guard_set  # ours has more to say, in the next record

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
            for guard in record.json_payload(MOST_VALUES)["guards"]
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
