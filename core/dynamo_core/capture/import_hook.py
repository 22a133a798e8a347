"""Call a function right after the program has imported a given module, without importing it ourselves."""

import sys

from .primitives import time_ns

TYPE_CHECKING = False  # see arm.py: only what Python has loaded by itself may be imported here
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


class ImportHook:
    """A meta path finder that finds nothing itself, but makes the loader that is found call the callbacks.

    It removes itself from `sys.meta_path` when no module is waited for any more. `times` has the start and
    the end of each module's import, in nanoseconds since the epoch.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[ModuleType], None]]] = {}
        self.times: dict[str, tuple[int, int]] = {}

    def when_imported(self, name: str, callback: "Callable[[ModuleType], None]") -> None:
        """Run `callback(module)` once module `name` is imported; at once if it already is.

        Several callbacks for one module run in the order in which they were added.
        """
        module = sys.modules.get(name)
        if module is not None:
            callback(module)
            return
        callbacks = self._waiting.setdefault(name, [])
        if callback not in callbacks:
            callbacks.append(callback)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop_waiting_for(self, name: str) -> None:
        """Drop the callbacks of this module."""
        self._waiting.pop(name, None)
        self._leave_if_idle()

    def _leave_if_idle(self) -> None:
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: "Any", target: "Any" = None) -> "Any":
        """The spec that another finder gives for a module that is waited for; its loader gets our step."""
        if name not in self._waiting:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    self._add_step(name, spec.loader)
                    return spec
        return None

    def _add_step(self, name: str, loader: "Any") -> None:
        if not hasattr(loader, "__dict__") or "exec_module" in loader.__dict__:
            return  # a built-in loader, or our step is in place already
        load = loader.exec_module

        def exec_module(module: "ModuleType") -> None:
            began = time_ns()
            load(module)
            self.times[name] = (began, time_ns())
            loader.__dict__.pop("exec_module", None)
            callbacks = self._waiting.pop(name, [])
            self._leave_if_idle()
            for callback in callbacks:
                callback(module)

        # When an import fails, Python leaves frames with this file name out of the traceback.
        exec_module.__code__ = exec_module.__code__.replace(
            co_filename="<frozen importlib._bootstrap_external>"
        )
        loader.exec_module = exec_module


import_hook = ImportHook()
