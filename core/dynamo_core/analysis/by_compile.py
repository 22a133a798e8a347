"""What was recorded, by the compile that it is of, and by the frame that the compile is of."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Protocol, TypeVar

from ..model import CompileId


class _OfACompile(Protocol):
    @property
    def compile_id(self) -> CompileId | None: ...


_V = TypeVar("_V")
_Item = TypeVar("_Item", bound=_OfACompile)


def frame_of(compile_id: CompileId | None) -> CompileId | None:
    """What all compiles of one frame have in common."""
    return compile_id and compile_id.of_frame


class ByCompile(dict[CompileId | None, _V]):
    """What is known of each compile. To be filled before anybody asks `of_frame`."""

    def of_frame(self, compile_id: CompileId | None) -> Mapping[CompileId | None, _V]:
        """That of all compiles of the frame that this one is of."""
        return self._by_frame.get(frame_of(compile_id), {})

    @cached_property
    def _by_frame(self) -> dict[CompileId | None, dict[CompileId | None, _V]]:
        by_frame: dict[CompileId | None, dict[CompileId | None, _V]] = {}
        for compile_id, value in self.items():
            by_frame.setdefault(frame_of(compile_id), {})[compile_id] = value
        return by_frame


def by_compile(recorded: Iterable[_Item]) -> ByCompile[list[_Item]]:
    """All that was recorded of each compile, in order."""
    found: ByCompile[list[_Item]] = ByCompile()
    for each in recorded:
        found.setdefault(each.compile_id, []).append(each)
    return found
