"""Import from the standard library even where the program has files of the same names.

With a `json.py` beside the user's script, `import json` in the program gives that file. Our own import must
still give Python's module, and must not change which one the program gets.
"""

import os
import sys
from types import TracebackType
from typing import Any

_FOLDER = os.path.dirname(os.__file__)


def _is_standard(module: Any) -> bool:
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return origin in (None, "built-in", "frozen") or _in_standard_library(origin)


def _in_standard_library(file: str) -> bool:
    folder = os.path.dirname(file)
    return "site-packages" not in folder and folder.startswith(_FOLDER)


class StandardLibraryOnly:
    """A context in which imports see the standard library and nothing else.

    Modules with which the program has replaced standard ones are removed meanwhile, and restored at the end.
    A standard module that was newly imported, and for which the program has a file of its own, is removed at
    the end, so that the program's next `import` still finds its file.
    """

    def __enter__(self) -> None:
        self._path = sys.path
        self._before = dict(sys.modules)
        standard = sys.stdlib_module_names
        self._replaced = {
            name: module
            for name, module in self._before.items()
            if name.partition(".")[0] in standard and name != "__main__" and not _is_standard(module)
        }
        for name in self._replaced:
            del sys.modules[name]
        sys.path = [entry for entry in sys.path if _in_standard_library(os.path.join(entry, "x"))]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.path = self._path
        for name in set(sys.modules) - set(self._before):
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names and self._program_has_its_own(top):
                del sys.modules[name]
        sys.modules.update(self._replaced)

    def _program_has_its_own(self, name: str) -> bool:
        if name in self._replaced:
            return True
        if name in sys.builtin_module_names:
            return False
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, None) if find else None
            if spec is not None:
                return spec.origin not in (None, "built-in", "frozen") and not _in_standard_library(
                    spec.origin
                )
        return False
