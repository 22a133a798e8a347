"""What a run and its processes record about themselves; a field is None where that was not recorded.

Each class keeps all of it in `recorded`: JSON documents contain all fields, also those without a field here.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, TypeVar, get_type_hints

from ..shared.quick_dataclass import dataclass
from ..shared.validation import matches

_Described = TypeVar("_Described", bound="Description")


@dataclass(frozen=True)
class Description:
    """A base class for descriptions: `recorded` has all fields as they were recorded."""

    recorded: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)

    def as_json(self) -> dict[str, Any]:
        """All recorded fields, in their order."""
        return dict(self.recorded)

    @classmethod
    def invalid_fields(cls, recorded: Mapping[str, Any]) -> set[str]:
        """The names of the fields whose recorded values have a wrong type."""
        return {name for name, hint in _hints(cls).items() if not matches(recorded.get(name), hint)}

    @classmethod
    def of(cls: type[_Described], recorded: Mapping[str, Any]) -> _Described:
        """The description made from recorded fields; a field of a wrong type is None."""
        names = (_hints(cls).keys() & recorded.keys()) - cls.invalid_fields(recorded)
        return cls(**{name: recorded[name] for name in names}, recorded=recorded)


def _hints(kind: type[Description]) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = {name: hint for name, hint in get_type_hints(kind).items() if name != "recorded"}
    return _HINTS[kind]


_HINTS: dict[type[Description], dict[str, Any]] = {}  # a recording may hold many of a kind


@dataclass(frozen=True)
class RunSettings(Description):
    """The options of a `dynamo run` that reports depend on, as in `shared/settings.py`."""

    semantics: str | None = None
    verify: str | None = None
    freeze_after: str | None = None
    on_recompile: str | None = None
    override: list[str] | None = None
    config: list[str] | None = None
    capture_budget: float | None = None


@dataclass(frozen=True)
class Run(Description):
    """A `dynamo run`, from its run file. `ended_ns` is None while it runs, or if dynamo was killed.

    Where processes were started with the variables of `dynamo env`, `started_by` is "environment", and the
    first of them wrote the run file: no launcher knows how they end.
    """

    dynamo: str | None = None
    program: str | None = None
    command: list[str] | None = None
    cwd: str | None = None
    settings: RunSettings = field(default_factory=RunSettings)
    launcher_pid: int | None = None
    started: str | None = None
    started_ns: int | None = None
    ended_ns: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    notes: list[str] | None = None
    started_by: str | None = None

    @property
    def has_launcher(self) -> bool:
        """Whether a `dynamo run` started the program, and records how it ends."""
        return self.started_by is None

    @classmethod
    def of(cls, recorded: Mapping[str, Any]) -> "Run":
        """The run made from its file; as in all descriptions, a field of a wrong type is None."""
        settings = recorded.get("settings")
        return replace(
            super().of(recorded), settings=RunSettings.of(settings if isinstance(settings, dict) else {})
        )
