"""What was done to the program's compiling: overrides, the freeze, and frames put off for their cost."""

from collections.abc import Callable, Mapping
from typing import Any

from ..model import (
    AppliedOverride,
    CompileId,
    Freeze,
    GuardFailure,
    NotCompiled,
    Place,
    Process,
    PutOff,
    Replaced,
)


class InterventionsBuilder:
    """Fills those fields of a process. What is met again replaces what was."""

    def __init__(self, process: Process, failure_of: Callable[[str], GuardFailure]) -> None:
        self._process = process
        self._failure_of = failure_of
        self._places: dict[object, int] = {}
        self._first_met: dict[object, int | None] = {}

    def freeze(self, content: Mapping[str, Any]) -> None:
        """Whether the freeze came; the last word counts."""
        self._process.freeze = Freeze(**content)

    def not_compiled(self, content: Mapping[str, Any], at_ns: int | None) -> None:
        """A frame that was not compiled, for these reasons; `at_ns` is when that was said."""
        reasons = content.get("reasons")
        reasons = None if reasons is None else tuple(map(str, reasons))
        failures = tuple(map(self._failure_of, reasons or ()))
        item = NotCompiled(
            name=content.get("name"),
            place=_place(content),
            reasons=reasons,
            failures=tuple(failure for failure in failures if failure.entry is not None),
            times=content["times"],
            at_ns=self._first_met.setdefault((content.get("name"), _place(content), reasons), at_ns),
        )
        self._put(self._process.not_compiled, item, (item.name, item.place, reasons))

    def put_off(self, content: Mapping[str, Any]) -> None:
        """A frame that ran eager, as compiling had taken too long by then."""
        place = _place(content)
        if place is not None:
            item = PutOff(content["name"], place, content["times"])
            self._put(self._process.put_off, item, (item.name, place))

    def override(self, content: Mapping[str, Any], compile_id: CompileId | None) -> None:
        """Arguments of a call, or the backend of a compile, that were replaced."""
        item = AppliedOverride(
            overrides=tuple(map(str, content.get("overrides", ()))),
            of=content.get("of"),
            place=_place(content),
            compile_id=compile_id,
            replaced=tuple(Replaced(*change) for change in content.get("replaced", ())),
            times=content["times"],
        )
        kind = (item.overrides, item.of, item.place, item.replaced) if compile_id is None else object()
        self._put(self._process.overrides, item, kind)

    def _put(self, items: list[Any], item: Any, kind: object) -> None:
        at = self._places.setdefault((id(items), kind), len(items))
        items[at : at + 1] = [item]


def _place(content: Mapping[str, Any]) -> Place | None:
    return Place(content["file"], content["line"]) if "file" in content else None
