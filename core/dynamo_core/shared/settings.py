"""What the launcher tells the capture engine, handed down through the environment.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .backend_choice import BackendChoice, Option, parse_chain
from .names import RECORDING_VARIABLE, SETTINGS_VARIABLE

CAPTURE_POLICIES = ("auto", "modules", "functions", "all", "none")

# Of --fullgraph: torch raises at the first graph break; or the program runs on, and all are listed.
FULLGRAPH_FIRST, FULLGRAPH_KEEP_GOING = "first", "keep-going"
# Of --verify and --on-recompile.
VERIFY_REPORT, VERIFY_ERROR = "report", "error"
ON_RECOMPILE_EAGER, ON_RECOMPILE_ERROR = "eager", "error"

# What whole-program capture may cost: seconds and ops of one frame's tracing, passes of a loop in it, and the
# seconds that all compiling may be ahead of the program itself.
TRACE_LIMIT, OP_LIMIT, LOOP_LIMIT, CAPTURE_BUDGET = 60.0, 10_000, 16, 30.0


# Of --semantics: what a captured program gets where torch.compile's are not eager's.
SEMANTICS_EAGER, SEMANTICS_COMPILED = "eager", "compiled"


# A frame as its code object knows it: file, first line, name. Or, where the name is a method of a module of
# torch's (`Sequential.forward`), the line of the program that calls it: compiled, it has another frame than
# in eager.
StepFrame = tuple[str, int, str]


class ExportSettings(NamedTuple):
    """What `dynamo export` tries: seconds for each trial, modules, and what is to be written of them."""

    time_limit: float
    most_modules: int
    save: bool = False
    aoti: bool = False


class Settings(NamedTuple):
    """The choices of one run, most of them options of `dynamo run`.

    `mode`, `dynamic` and `options` mean what they mean to `torch.compile`; `backend` may be a chain
    (`backend_choice.py`). They apply to frames that the capture policy takes, never to the program's own
    `torch.compile`; `override` replaces arguments of that, `config` torch's own settings. With `strict`, a
    graph that no backend takes is an error in the program. `profile` asks for torch.profiler around
    `profile_steps` steady steps.
    `autotune_file` is where `dynamo autotune` stores what the backend `autotuned` looks up.
    `semantics` says whether a captured program keeps eager's where torch.compile has others.
    `step_frames` begin a step of the program, which `dynamo bench` wants to be noted, compiled or not.
    `stop_after` so many calls of a compiled frame the program is ended, which only `dynamo fix` asks for.
    `makes_folder` where no `dynamo run` has made it: the first process that imports torch does.
    `export` asks for trials of torch.export with the modules that the program calls.
    A `brief` recording is for tests: it lacks what is not read of one, two thirds of the records (half are
    torch's timed spans), and of the bytes (half are settings in torch's metrics).
    What is recorded is `carried_to` a URL; {job} in it is the name of the recording's folder.
    The limits bound what capture costs (`tracing_limits.py`, `budget.py` and `compile_limit.py` in
    `capture/whole_program/`); None switches one off.
    """

    recording: str
    capture: str = "auto"
    backend: str = "inductor"
    mode: str | None = None
    dynamic: bool | None = None
    strict: bool = False
    fullgraph: str | None = None
    options: Mapping[str, Option] = {}  # nobody writes to it
    profile: bool = False
    profile_steps: int = 10
    freeze_after: str | None = None
    on_recompile: str = ON_RECOMPILE_EAGER
    verify: str | None = None
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
    makes_folder: bool = False
    brief: bool = False
    export: ExportSettings | None = None
    carried_to: str | None = None

    def choices(self) -> tuple[BackendChoice, ...]:
        """The backends to try for each graph, in order; ValueError says what is wrong with them."""
        return parse_chain(self.backend, self.mode, self.options)

    def to_environment(self) -> dict[str, str]:
        """The environment variables that carry these settings."""
        choices = self._asdict()
        return {
            RECORDING_VARIABLE: choices.pop("recording"),
            SETTINGS_VARIABLE: json.dumps(choices),
        }

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that `environment` carries; KeyError if it carries none."""
        return cls.from_choices(environment[RECORDING_VARIABLE], json.loads(environment[SETTINGS_VARIABLE]))

    @classmethod
    def from_choices(cls, recording: str, choices: Mapping[str, Any]) -> "Settings":
        """The settings as they are after a way through JSON."""
        lists = {name: tuple(choices[name]) for name in ("override", "config")}
        step_frames = tuple(map(tuple, choices["step_frames"]))
        export = None if choices["export"] is None else ExportSettings(*choices["export"])
        return cls(recording=recording, **{**choices, **lists, "step_frames": step_frames, "export": export})


# How the settings in a compile's metrics tell what `torch.compile(dynamic=…)` was.
#
# Source: torch/_dynamo/eval_frame.py (set_enable_dynamic), 2.8 to 2.15.


_IS_DYNAMIC = '"assume_static_by_default": false'
_IS_STATIC = '"automatic_dynamic_shapes": false'


def dynamic_of(config: object) -> bool | None:
    """What it was, by torch's settings as JSON text; None where it was not given, or they are not there."""
    if not isinstance(config, str):
        return None
    if _IS_DYNAMIC in config:
        return True
    return False if _IS_STATIC in config else None


def dynamic_settings(config: str) -> str:
    """The settings, as JSON text, that `dynamic_of` reads."""
    return "{" + ", ".join(each for each in (_IS_DYNAMIC, _IS_STATIC) if each in config) + "}"
