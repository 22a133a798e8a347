"""Load our modules so that neither coverage nor Dynamo sees them.

Coverage measures every file outside site-packages, and in an editable install our files are outside. It takes
a file's name from the module's `__file__`, and leaves out names that begin with `<` (coverage/inorout.py,
should_trace; 7.17). Code objects keep their real file, for tracebacks, and `__spec__.origin` has the path of
a module. Wherever Dynamo looks at all frames that run (around a DistributedDataParallel, say), it would count
our frames with the program's.
"""

import sys
from _frozen_importlib_external import FileFinder, FileLoader, SourceFileLoader, SourceLoader

TYPE_CHECKING = False  # see arm.py: only what Python has loaded by itself may be imported here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, ModuleType
    from typing import Any

_codes: "list[CodeType]" = []  # the code of modules loaded before torch
_finders: "dict[str, FileFinder]" = {}  # by the folder in which they find modules
_hide_from_dynamo: "Callable[[CodeType], None]" = _codes.append


def _name_for_coverage(file: str) -> str:
    return "<dynamo>/" + file.rpartition("/")[2]


class _Loader(FileLoader, SourceLoader):
    """Like Python's SourceFileLoader, but not a subclass: pytest replaces those to rewrite assertions.

    Source: _pytest/assertion/rewrite.py (AssertionRewritingHook.find_spec), pytest 8 and 9.
    """

    path_stats = SourceFileLoader.path_stats
    set_data = SourceFileLoader.set_data
    _cache_bytecode = SourceFileLoader._cache_bytecode  # type: ignore[attr-defined]

    def get_code(self, fullname: str) -> "CodeType | None":
        code = super().get_code(fullname)
        if code is not None:
            _hide_from_dynamo(code)
        return code

    def exec_module(self, module: "ModuleType") -> None:
        module.__file__ = _name_for_coverage(self.path)
        hide_modules_in(getattr(module, "__path__", ()))
        super().exec_module(module)


def hide_modules_in(folders: "Iterable[str]") -> None:
    """Hide modules imported from these folders, and from packages in them, from now on."""
    for folder in folders:
        finder = FileFinder(folder, (_Loader, [".py"]))  # type: ignore[arg-type]
        _finders[folder] = sys.path_importer_cache[folder] = finder


def hide_again() -> None:
    """Restore the finders before another import: the program may have cleared `sys.path_importer_cache`."""
    sys.path_importer_cache.update(_finders)


def hide_from_dynamo() -> None:
    """Make Dynamo skip the frames of the hidden modules, but not what they call; torch must be imported.

    Source: torch/_dynamo/eval_frame.py (skip_code), 2.13.
    """
    global _hide_from_dynamo
    from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy

    strategy = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.DEFAULT)

    def hide(code: "Any") -> None:
        set_code_exec_strategy(code, strategy)
        for constant in code.co_consts:
            if type(constant) is type(code):
                hide(constant)

    _hide_from_dynamo = hide
    for code in _codes:
        hide(code)
    _codes.clear()


__file__ = _name_for_coverage(__file__)
