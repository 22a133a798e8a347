"""What a run and its processes record about themselves; a field is None where that was not recorded.

Each class keeps all of it in `recorded`: JSON documents contain all fields, also those without a field here.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, TypeVar, get_type_hints

from ..shared.quick_dataclass import dataclass
from ..shared.validation import matches
from .ids import Place

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
class ProcessInfo(Description):
    """A process at its start. Times are nanoseconds since the epoch; `began_ns` is the kernel's start time.

    Its job, attempt and rank are from its launcher's environment variables (`shared/launchers.py`).
    """

    host: str | None = None
    job: str | None = None
    attempt: list[int] | None = None
    rank: int | None = None
    rank_unsure: int | None = None
    pid: int | None = None
    ppid: int | None = None
    started_ns: int | None = None
    began_ns: int | None = None
    executable: str | None = None
    python: str | None = None
    torch: str | None = None
    torch_git: str | None = None
    cuda_build: str | None = None
    hip_build: str | None = None
    calls_file: str | None = None
    calls_not_recorded: str | None = None
    forked: bool | None = None
    argv: list[str] | None = None
    environment: dict[str, str] | None = None


@dataclass(frozen=True)
class ProcessState(Description):
    """A process with torch imported: devices in use, and torch's settings that are not the defaults.

    `bisecting` is what torch's compiler bisector was at, None where it was not active.
    """

    devices: list[str] | None = None
    torch_config: dict[str, dict[str, str]] | None = None
    bisecting: str | None = None


@dataclass(frozen=True)
class ProcessEnd(Description):
    """The last record of a process: torch's own counters, and the peak memory in bytes, by device.

    Where an exception ended the process, `raised` is the name of its class, and `raised_in` the innermost
    function of the program in its traceback, in `raised_file` at `raised_line`.
    """

    torch_totals: dict[str, int] | None = None
    ended_ns: int | None = None
    peak_memory: dict[str, int] | None = None
    raised: str | None = None
    raised_file: str | None = None
    raised_line: int | None = None
    raised_in: str | None = None

    @property
    def raised_at(self) -> Place | None:
        """The line that raised; None where it is not known."""
        if self.raised_file is None or self.raised_line is None:
            return None
        return Place(self.raised_file, self.raised_line)


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
