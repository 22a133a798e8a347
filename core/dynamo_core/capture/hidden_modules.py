"""Load our modules so that what looks at the program does not see them: neither coverage nor Dynamo.

Coverage measures every file outside site-packages, which ours are in an editable install. It takes a file's
name from the module's `__file__`, and leaves out what begins with `<` (coverage/inorout.py, should_trace;
7.17). Code objects keep their real file, for tracebacks, and `__spec__.origin` tells where a module is.
Dynamo, wherever it looks at all frames that run (around a DistributedDataParallel, say), would count ours
with the program's.
"""

import sys
from _frozen_importlib_external import FileFinder, FileLoader, SourceFileLoader, SourceLoader

TYPE_CHECKING = False  # see arm.py: nothing may be imported here that Python has not loaded by itself
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, ModuleType
    from typing import Any

_codes: "list[CodeType]" = []  # of modules that were loaded before torch was
_finders: "dict[str, FileFinder]" = {}  # by the folder that they find modules in
_hide_from_dynamo: "Callable[[CodeType], None]" = _codes.append


def _name_for_coverage(file: str) -> str:
    return "<dynamo>/" + file.rpartition("/")[2]


class _Loader(FileLoader, SourceLoader):
    """As Python's own; no subclass of it, which pytest would replace, to rewrite assertions of plugins.

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
    """Hide what is imported from these folders from now on, and from packages in them."""
    for folder in folders:
        finder = FileFinder(folder, (_Loader, [".py"]))  # type: ignore[arg-type]
        _finders[folder] = sys.path_importer_cache[folder] = finder


def hide_again() -> None:
    """Before a further import: the program may have cleared `sys.path_importer_cache`."""
    sys.path_importer_cache.update(_finders)


def hide_from_dynamo() -> None:
    """Dynamo does not look at frames of the hidden modules any more; torch is imported by now.

    What they call is looked at as before. Source: torch/_dynamo/eval_frame.py (skip_code), 2.13.
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
