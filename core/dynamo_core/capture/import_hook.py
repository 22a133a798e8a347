"""Call a function right after the program has imported a given module, without importing it ourselves."""

import sys

from .primitives import time_ns

TYPE_CHECKING = False  # see arm.py: nothing may be imported here that Python has not loaded by itself
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


class ImportHook:
    """A meta path finder that finds nothing itself, and lends a found loader one extra step.

    It takes itself off `sys.meta_path` when it waits for nothing more. `times` says from when to when each
    module was being imported, in nanoseconds since the epoch.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[ModuleType], None]]] = {}
        self.times: dict[str, tuple[int, int]] = {}

    def when_imported(self, name: str, callback: "Callable[[ModuleType], None]") -> None:
        """Run `callback(module)` once module `name` is imported; now, if it is already.

        Several may wait for one module; they run in the order in which they asked.
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

    def no_longer(self, name: str) -> None:
        """Wait for this module no more."""
        self._waiting.pop(name, None)
        self._leave_if_idle()

    def _leave_if_idle(self) -> None:
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: "Any", target: "Any" = None) -> "Any":
        """The spec that the finders after us give, with our step added where we wait for `name`."""
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

        # Python leaves importlib's frames out of a traceback when an import fails, by their file name.
        exec_module.__code__ = exec_module.__code__.replace(
            co_filename="<frozen importlib._bootstrap_external>"
        )
        loader.exec_module = exec_module


import_hook = ImportHook()
