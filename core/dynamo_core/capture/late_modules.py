"""Wait for modules that a backend loads, only while one may: a program may look at `sys.meta_path` later."""

from collections.abc import Callable
from types import ModuleType

from .import_hook import import_hook


class LateModules:
    """Calls each installer once, with its module, whenever that is first seen."""

    def __init__(self) -> None:
        self._installers: dict[str, list[Callable[[ModuleType], None]]] = {}

    def add(self, name: str, installer: Callable[[ModuleType], None]) -> None:
        """Those of one module are called in the order in which they were added."""
        self._installers.setdefault(name, []).append(installer)

    def wait(self) -> None:
        """Install each probe when its module is imported, from now on until `stop`."""
        for name in list(self._installers):
            import_hook.when_imported(name, self._install)

    def stop(self) -> None:
        """Leave nothing behind in `sys.meta_path`."""
        for name in self._installers:
            import_hook.no_longer(name)

    def _install(self, module: ModuleType) -> None:
        for install in self._installers.pop(module.__name__, ()):
            install(module)
