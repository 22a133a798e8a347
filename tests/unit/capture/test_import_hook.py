"""What waits for a module is run once it is imported, whoever else waits for it."""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from dynamo_core.capture.import_hook import ImportHook


class OneModule:
    """A finder and loader of one empty module, so that no file is needed."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "waited_for" else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        pass


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ImportHook:
    monkeypatch.setattr(sys, "meta_path", [OneModule(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "waited_for", raising=False)
    return ImportHook()


def test_all_who_wait_for_a_module_are_called_in_their_order(hook: ImportHook) -> None:
    called: list[str] = []
    hook.when_imported("waited_for", lambda module: called.append(f"first {module.__name__}"))
    hook.when_imported("waited_for", lambda module: called.append(f"second {module.__name__}"))
    importlib.import_module("waited_for")
    assert called == ["first waited_for", "second waited_for"]
    assert hook not in sys.meta_path


def test_who_asks_twice_is_called_once_and_who_waits_no_longer_not_at_all(hook: ImportHook) -> None:
    called: list[ModuleType] = []
    hook.when_imported("waited_for", called.append)
    hook.when_imported("waited_for", called.append)
    module = importlib.import_module("waited_for")
    assert called == [module]
    del sys.modules["waited_for"]
    hook.when_imported("waited_for", called.append)
    hook.stop_waiting_for("waited_for")
    importlib.import_module("waited_for")
    assert called == [module]
