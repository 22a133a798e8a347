"""What the launcher tells the capture engine, handed down through the environment.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from .backend_choice import BackendChoice, Option, parse_chain
from .names import RECORDING_VARIABLE, SETTINGS_VARIABLE

CAPTURE_POLICIES = ("auto", "modules", "functions", "all", "none")

# Of --fullgraph: torch raises at the first graph break; or the program runs on, and all are listed.
FULLGRAPH_FIRST, FULLGRAPH_KEEP_GOING = "first", "keep-going"
# Of --verify and --on-recompile.
VERIFY_REPORT, VERIFY_ERROR = "report", "error"
ON_RECOMPILE_EAGER, ON_RECOMPILE_ERROR = "eager", "error"


# A frame as its code object knows it: file, first line, name.
StepFrame = tuple[str, int, str]


@dataclass(frozen=True)
class Settings:
    """The choices of one `dynamo run`; all but the first mirror its options.

    `mode`, `dynamic` and `options` mean what they mean to `torch.compile`; `backend` may be a chain
    (`backend_choice.py`). They apply to frames that the capture policy takes, never to the program's own
    `torch.compile`; `override` replaces arguments of that. With `strict`, a graph that no backend takes is an
    error in the program. `profile` asks for torch.profiler around `profile_steps` steady steps.
    `autotune_file` is where `dynamo autotune` stores what the backend `autotuned` looks up.
    `step_frames` begin a step of the program, which `dynamo bench` wants to be noted, compiled or not.
    """

    recording: str
    capture: str = "auto"
    backend: str = "inductor"
    mode: str | None = None
    dynamic: bool | None = None
    strict: bool = False
    fullgraph: str | None = None
    options: dict[str, Option] = field(default_factory=dict)
    profile: bool = False
    profile_steps: int = 10
    freeze_after: str | None = None
    on_recompile: str = ON_RECOMPILE_EAGER
    verify: str | None = None
    override: tuple[str, ...] = ()
    autotune_file: str | None = None
    step_frames: tuple[StepFrame, ...] = ()

    def choices(self) -> tuple[BackendChoice, ...]:
        """The backends to try for each graph, in order; ValueError says what is wrong with them."""
        return parse_chain(self.backend, self.mode, self.options)

    def to_environment(self) -> dict[str, str]:
        """The environment variables that carry these settings."""
        choices = asdict(self)
        return {
            RECORDING_VARIABLE: choices.pop("recording"),
            SETTINGS_VARIABLE: json.dumps(choices),
        }

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that `environment` carries; KeyError if it carries none."""
        choices = json.loads(environment[SETTINGS_VARIABLE])
        choices["override"] = tuple(choices["override"])
        choices["step_frames"] = tuple(map(tuple, choices["step_frames"]))
        return cls(recording=environment[RECORDING_VARIABLE], **choices)
