"""The settings of a run, which the launcher passes to the capture engine in environment variables.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .backend_choice import BackendChoice, Option, parse_chain
from .names import RECORDING_VARIABLE, SETTINGS_VARIABLE

CAPTURING_POLICIES = ("auto", "modules", "functions", "all")
CAPTURE_POLICIES = (*CAPTURING_POLICIES, "none")

DEFAULT_BACKEND = "inductor"
# Values of --fullgraph: torch raises at the first graph break; or the program goes on, and all are listed.
FULLGRAPH_FIRST, FULLGRAPH_KEEP_GOING = "first", "keep-going"
# Values of --verify and --on-recompile.
VERIFY_REPORT, VERIFY_ERROR, VERIFY_BITWISE = "report", "error", "bitwise"
VERIFY_STAGE = "stage"  # of our own runs: a wrong stage is looked for, and no line, which takes the longest
VERIFY_AUDITS = (VERIFY_ERROR, VERIFY_BITWISE)  # with which the exit code says what was found
ON_RECOMPILE_EAGER, ON_RECOMPILE_ERROR = "eager", "error"

# Limits of whole-program capture: seconds and ops of tracing one frame, passes of a loop in it, and the
# seconds by which the time of all compiling may exceed that of the program itself.
TRACE_LIMIT, OP_LIMIT, LOOP_LIMIT, CAPTURE_BUDGET = 60.0, 10_000, 16, 30.0
TRY_BUDGET = 60.0  # seconds of a process that --try may take


# Values of --semantics: which semantics a captured program gets where torch.compile differs from eager.
SEMANTICS_EAGER, SEMANTICS_COMPILED = "eager", "compiled"


# A frame by its code object: file, first line, name. Where the name is a method of one of torch's modules
# (`Sequential.forward`), it is the line of the program that calls the method, whose frame differs when
# compiled.
StepFrame = tuple[str, int, str]


class ExportSettings(NamedTuple):
    """Options of `dynamo export`: seconds for each trial, number of modules, and which files to write."""

    time_limit: float
    most_modules: int
    save: bool = False
    aoti: bool = False


class Settings(NamedTuple):
    """The choices of one run, most of them options of `dynamo run`.

    `mode`, `dynamic` and `options` are as in `torch.compile`; `backend` may be a chain (`backend_choice.py`).
    They apply to frames that the capture policy selects, never to the program's own `torch.compile`;
    `override` replaces arguments of that, `config` torch's own settings. With `strict`, a graph that no
    backend takes is an error in the program. `profile` requests torch.profiler for `profile_steps` steady
    steps. `autotune_file` is where `dynamo autotune` stores what the backend `autotuned` looks up.
    `semantics` says whether a captured program has eager's semantics where torch.compile's differ.
    `step_frames` are the frames that begin a step of the program, which `dynamo bench` records. `stop_after`
    is the number of calls of a compiled frame after which the program is ended, for `dynamo fix`.
    `save_inputs` is a folder for the arguments of graphs' calls, for `dynamo repro --values`. With
    `makes_folder`, no `dynamo run` has made the folder: the first process that imports torch makes it.
    `try_changes` has frames with breaks or recompiles traced again with changes, in a copy of the process,
    for `try_budget` seconds of a process at most.
    `export` requests trials of torch.export with the modules that the program calls. A `brief` recording is
    for pytest: it lacks what its reports do not read, two thirds of the records (half of them torch's timed
    spans), and of the bytes (half of them settings in torch's metrics). `verify_budget` is the share of the
    time that `verify` may take after its first comparison; None is 60 s and a fifth. `carried_to` is the URL
    that the recording is uploaded to; {job} in it is the name of the recording's folder. The limits bound the
    cost of capture (`capture/whole_program/`); None switches one off.
    """

    recording: str
    capture: str = "auto"
    backend: str = DEFAULT_BACKEND
    mode: str | None = None
    dynamic: bool | None = None
    strict: bool = False
    fullgraph: str | None = None
    options: Mapping[str, Option] = {}  # never mutated
    profile: bool = False
    profile_steps: int = 10
    freeze_after: str | None = None
    on_recompile: str = ON_RECOMPILE_EAGER
    verify: str | None = None
    verify_budget: float | None = None
    try_changes: bool = False
    try_budget: float = TRY_BUDGET
    override: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    autotune_file: str | None = None
    step_frames: tuple[StepFrame, ...] = ()
    trace_limit: float | None = TRACE_LIMIT
    op_limit: int | None = OP_LIMIT
    loop_limit: int | None = LOOP_LIMIT
    capture_budget: float | None = CAPTURE_BUDGET
    compile_limit: float | None = None
    semantics: str = SEMANTICS_EAGER
    stop_after: int | None = None
    save_inputs: str | None = None
    makes_folder: bool = False
    brief: bool = False
    export: ExportSettings | None = None
    carried_to: str | None = None

    def choices(self) -> tuple[BackendChoice, ...]:
        """The backends to try for each graph, in order; ValueError says what is wrong with them."""
        return parse_chain(self.backend, self.mode, self.options)

    def to_environment(self) -> dict[str, str]:
        """The environment variables with these settings."""
        choices = self._asdict()
        return {
            RECORDING_VARIABLE: choices.pop("recording"),
            SETTINGS_VARIABLE: json.dumps(choices),
        }

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings in an environment; KeyError if there are none."""
        return cls.from_choices(environment[RECORDING_VARIABLE], json.loads(environment[SETTINGS_VARIABLE]))

    @classmethod
    def from_choices(cls, recording: str, choices: Mapping[str, Any]) -> "Settings":
        """The settings from their JSON values."""
        values = {name: _without_lists(value) for name, value in choices.items()}
        export = None if choices["export"] is None else ExportSettings(*choices["export"])
        return cls(recording=recording, **{**values, "export": export})


def _without_lists(value: Any) -> Any:
    """A value read from JSON, with a tuple for each list, as settings have them."""
    return tuple(map(_without_lists, value)) if isinstance(value, list) else value


# How `torch.compile(dynamic=…)` changes the settings in a compile's metrics.
# Source: torch/_dynamo/eval_frame.py (set_enable_dynamic), 2.8 to 2.15.
_IS_DYNAMIC = '"assume_static_by_default": false'
_IS_STATIC = '"automatic_dynamic_shapes": false'


def dynamic_of(config: object) -> bool | None:
    """The value of `dynamic`, by torch's settings as JSON text; None where not given or not recorded."""
    if not isinstance(config, str):
        return None
    if _IS_DYNAMIC in config:
        return True
    return False if _IS_STATIC in config else None


# What our advice may set, beside what it stops, as torch's settings have it where the program did so itself.
_ADVISED = {
    '"allow_unspec_int_on_nn_module": true': "torch._dynamo.config.allow_unspec_int_on_nn_module=True",
    '"force_parameter_static_shapes": false': "torch._dynamo.config.force_parameter_static_shapes=False",
}


def advised_settings_of(config: object) -> tuple[str, ...]:
    """The settings that our advice names and that were set, by torch's settings as JSON text."""
    text = config if isinstance(config, str) else ""
    return tuple(setting for known, setting in _ADVISED.items() if known in text)


def settings_read(config: str) -> str:
    """The part of the settings, as JSON text, that `dynamic_of` and `advised_settings_of` read."""
    return "{" + ", ".join(each for each in (_IS_DYNAMIC, _IS_STATIC, *_ADVISED) if each in config) + "}"
