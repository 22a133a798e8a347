"""Wait for modules that a backend loads, only while one may: a program may look at `sys.meta_path` later."""

from collections.abc import Callable
from types import ModuleType

from .import_hook import import_hook


class LateModules:
    """Calls each installer once, with its module, whenever that is first seen."""

    def __init__(self) -> None:
        self._installers: dict[str, Callable[[ModuleType], None]] = {}

    def add(self, name: str, installer: Callable[[ModuleType], None]) -> None:
        """There is one installer for each module."""
        self._installers[name] = installer

    def wait(self) -> None:
        """From now on, until `stop`."""
        for name in list(self._installers):
            import_hook.when_imported(name, self._install)

    def stop(self) -> None:
        """Leave nothing behind in `sys.meta_path`."""
        for name in self._installers:
            import_hook.no_longer(name)

    def _install(self, module: ModuleType) -> None:
        install = self._installers.pop(module.__name__, None)
        if install is not None:
            install(module)
