"""The compiled function that the user names, `Net.forward` or `forward`, and where its calls are counted."""

from collections.abc import Hashable, Iterable
from types import CodeType
from typing import NamedTuple

from ...shared.choices import is_named_by


class CompiledFunction(NamedTuple):
    """A function that is compiled: `code` and, where it is a module's, `method`, as reports name it."""

    code: CodeType
    method: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """Its whole names: of a method, with the instance's class as well as with the defining class."""
        qualified: str | None = getattr(self.code, "co_qualname", None)  # from Python 3.11 on
        return tuple(each for each in (self.method, qualified) if each is not None)

    @property
    def identity(self) -> Hashable:
        """What sets it apart; all of torch's own modules are compiled through one and the same code."""
        return self.method, self.code.co_filename, self.code.co_firstlineno


class NamedFunction:
    """Collects the pages of the calls of what a name means.

    A whole name means every function that has it. A short one means a function as long as it is the only one.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._by_whole_name: list[int] = []
        self._by_short_name: dict[Hashable, list[int]] = {}

    def add(self, page: int, function: CompiledFunction) -> None:
        """A graph of a function was compiled, and its calls are counted on this page."""
        if self._name in function.names:
            self._by_whole_name.append(page)
        elif self._is_short_name_of(function):
            self._by_short_name.setdefault(function.identity, []).append(page)

    @property
    def pages(self) -> Iterable[int] | None:
        """The pages of the function that the name means; None where it is short for several."""
        if self._by_whole_name or not self._by_short_name:
            return self._by_whole_name
        of_one, *others = self._by_short_name.values()
        return None if others else of_one

    def _is_short_name_of(self, function: CompiledFunction) -> bool:
        return any(is_named_by(name, self._name) for name in (*function.names, function.code.co_name))
