"""Sets of code objects that do not keep them alive."""

import weakref
from types import CodeType


class CodeObjects:
    """Code objects, not kept alive, and forgotten some time after they are gone.

    By identity, since code objects compare by value; without callbacks, which would run at interpreter exit.
    """

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[CodeType]] = {}
        self._sweep_at = 1000

    def add(self, code: CodeType) -> None:
        self._references[id(code)] = weakref.ref(code)
        if len(self._references) >= self._sweep_at:
            self._references = {key: ref for key, ref in self._references.items() if ref() is not None}
            self._sweep_at = 1000 + 2 * len(self._references)

    def alive(self) -> list[CodeType]:
        found = [reference() for reference in list(self._references.values())]
        return [code for code in found if code is not None]

    def __contains__(self, code: CodeType) -> bool:
        reference = self._references.get(id(code))
        return reference is not None and reference() is code
