"""Environment variables that torch reads when it is imported, in a process which has imported it already."""

import builtins
import importlib
import importlib.util
import os
import sys
from typing import Any

# The modules whose settings begin with what such a variable says. A test that sets another one (TORCH_TRACE,
# TORCH_LOGS, CXX) starts a process.
_READ_AT_IMPORT = ("torch.compiler.config", "torch._dynamo.config")
_known: dict[str, str] = {}


def remember() -> None:
    """Note what torch has read, right after it was imported."""
    _known.update(_variables())


def read_now_and_at_import() -> None:
    """As they are now, and again when the program imports torch: its lines above may have set some."""
    _read_if_they_changed()
    original = builtins.__import__

    def importing(name: str, into: Any = None, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "torch" and into is not None and into["__name__"] == "__main__":
            builtins.__import__ = original
            _read_if_they_changed()
        return original(name, into, *arguments, **named)

    builtins.__import__ = importing


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("TORCH")}


def _read_if_they_changed() -> None:
    """Give torch's settings the values that they would have, had it been imported with these variables."""
    if _variables() == _known:
        return
    for name in _READ_AT_IMPORT:
        known = sys.modules[name]
        spec = importlib.util.spec_from_file_location(f"{name}_anew", known.__file__ or "")
        assert spec is not None and spec.loader is not None
        anew = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = anew
        spec.loader.exec_module(anew)
        for setting, entry in anew._config.items():  # type: ignore[attr-defined]
            is_known = entry.alias is None and not getattr(entry, "deprecated", False)  # torch 2.8 has none
            if is_known and getattr(anew, setting) != getattr(known, setting):
                setattr(known, setting, getattr(anew, setting))
    _known.clear()
    remember()
