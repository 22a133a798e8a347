"""Values of `--override`, and the settings in `[tool.dynamo]` of the nearest pyproject.toml.

An override gives other arguments to torch.compile, or another backend to one compile.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .backend_choice import MODES, BackendChoice, Option, option_value, parse_chain
from .errors import LockFileProblem, did_you_mean
from .quick_dataclass import dataclass

_TRUE_OR_FALSE = ("fullgraph", "disable", "isolate_recompiles")
_BACKENDS = ("backend", "mode")  # the keys about the backend, with option.KEY
_KEYS = (*_BACKENDS, "dynamic", *_TRUE_OR_FALSE, "frame", "option.KEY")
_OPTION = "option."
_COMPILE_ID = re.compile(r"\[?(\d+(?:/\d+)?)\]?")


@dataclass(frozen=True)
class Override:
    """Arguments to replace, by key: in calls of torch.compile, or for the compiles of `frame` (`0/1`, `0`).

    `dynamic`, `fullgraph`, `disable` and `isolate_recompiles` are as torch.compile takes them; an option's
    key is `option.KEY`.
    """

    values: Mapping[str, Option | None]
    frame: str | None = None

    def __str__(self) -> str:
        """The override as one would type it."""
        frame = {} if self.frame is None else {"frame": self.frame}
        return ",".join(f"{key}={value}" for key, value in {**frame, **self.values}.items())

    @property
    def backend(self) -> str | None:
        """The backend, or chain of backends, to use instead of the call's own; None to keep that."""
        return self._text("backend")

    @property
    def mode(self) -> str | None:
        """The mode; without a backend, it is for calls whose own backend is Inductor."""
        return self._text("mode")

    def _text(self, key: str) -> str | None:
        value = self.values.get(key)
        return None if value is None else str(value)

    @property
    def options(self) -> dict[str, Option]:
        """The backend's options; without a backend, they are for calls whose own backend is Inductor."""
        return {
            key.removeprefix(_OPTION): value
            for key, value in self.values.items()
            if key.startswith(_OPTION) and value is not None
        }

    @property
    def others(self) -> dict[str, Option | None]:
        """The arguments that are not about the backend: dynamic, fullgraph, …"""
        return {key: value for key, value in self.values.items() if not _is_of_backend(key)}

    @property
    def names_backend(self) -> bool:
        """Whether any argument is about the backend."""
        return any(map(_is_of_backend, self.values))

    def choices(self) -> tuple[BackendChoice, ...]:
        """The backends to try instead, Inductor where only a mode or options are given; else ValueError."""
        backend = "inductor" if self.backend is None else self.backend
        return parse_chain(backend, self.mode, self.options)

    def with_backend(self, backend: str) -> "Override":
        """The override with its backend spelled otherwise."""
        return replace(self, values={**self.values, "backend": backend})

    def is_of(self, frame: int, compile_: int) -> bool:
        """Whether the override is for this compile of this frame."""
        return self.frame in (str(frame), f"{frame}/{compile_}")


def parse_override(text: str) -> Override:
    """Parse `KEY=VALUE,…`; ValueError says what is wrong.

    A part without `=` belongs to the value before it, so a chain is `backend=A,B`.
    """
    values: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if equals:
            if key in values:
                raise ValueError(f"{text!r} says {key} twice")
            values[key] = value
        elif values:
            values[next(reversed(values))] += f",{key}"
        else:
            raise ValueError(f"{text!r} is not KEY=VALUE,…; keys are {', '.join(_KEYS)}")
    frame = values.pop("frame", None)
    parsed = Override({key: _value(key, value) for key, value in values.items()}, _frame(frame))
    if not parsed.values:
        raise ValueError(f"{text!r} replaces nothing: frame={frame},backend=NAME replaces the backend")
    if parsed.frame is not None and parsed.others:
        raise ValueError(
            f"{text!r}: for one compile id only the backend can be replaced, not {', '.join(parsed.others)}"
        )
    if parsed.names_backend:
        parsed.choices()
    return parsed


def merged(overrides: Iterable[Override]) -> Override | None:
    """The overrides of torch.compile's arguments as one; None without any. The last of several counts.

    Raises ValueError where they contradict each other.
    """
    values: dict[str, Option | None] = {}
    for override in overrides:
        if override.frame is None:
            values |= override.values
    combined = Override(values)
    if combined.names_backend:
        combined.choices()
    return combined if values else None


def _is_of_backend(key: str) -> bool:
    return key in _BACKENDS or key.startswith(_OPTION)


def _frame(text: str | None) -> str | None:
    if text is None:
        return None
    found = _COMPILE_ID.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no compile id: frame=0/1, or frame=0 for all compiles of frame 0")
    return found[1]


def _value(key: str, text: str) -> Option | None:
    if key.startswith(_OPTION) and key != _OPTION:
        return option_value(text)
    if key not in _KEYS:
        hint = did_you_mean(key, _KEYS) or f"keys are {', '.join(_KEYS)}"
        raise ValueError(f"torch.compile's argument {key!r} cannot be replaced; {hint}")
    if key == "mode" and text not in MODES:
        hint = did_you_mean(text, MODES) or f"modes are {', '.join(MODES)}"
        raise ValueError(f"{text!r} is no mode of torch.compile's; {hint}")
    if key in _BACKENDS:
        return text
    values: dict[str, bool | None] = {"true": True, "false": False}
    if key == "dynamic":
        values["none"] = None
    if text.lower() not in values:
        raise ValueError(f"{key}={text} is none of {', '.join(value.capitalize() for value in values)}")
    return values[text.lower()]


_LARGEST = 16 << 20  # bytes of a pyproject.toml


class ProjectSettings(NamedTuple):
    """A pyproject.toml, and its table `[tool.dynamo]`."""

    file: Path
    table: Mapping[str, Any]


def project_settings(folder: Path) -> ProjectSettings | None:
    """The settings for a folder; None where there is no file. LockFileProblem where it cannot be read."""
    files = (parent / "pyproject.toml" for parent in (folder, *folder.parents))
    file = next((path for path in files if _is_there(path)), None)
    if file is None:
        return None
    try:
        if file.stat().st_size > _LARGEST:
            raise LockFileProblem(f"{file} is too large")
        content = _parsed(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # as in lock_file.py
        raise LockFileProblem(f"cannot read {file}: {error}") from error
    tool = content.get("tool", {})
    ours = tool.get("dynamo", {}) if isinstance(tool, dict) else {}
    if not isinstance(ours, dict):
        raise LockFileProblem(f"{file}: [tool.dynamo] is no table of settings")
    return ProjectSettings(file, ours)


@cache
def _parsed(text: str) -> Mapping[str, Any]:
    """The content of a TOML file, for which several options ask. A parser is imported only then."""
    if sys.version_info >= (3, 11):
        from tomllib import loads
    else:
        from tomli import loads
    return loads(text)


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # another user's folder
        return False
