"""What the launcher tells the capture engine, handed down through the environment.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from .names import RECORDING_VARIABLE, SETTINGS_VARIABLE

CAPTURE_POLICIES = ("auto", "modules", "functions", "all", "none")


@dataclass(frozen=True)
class Settings:
    """The choices of one `dynamo run`; all but the first mirror its options.

    `backend`, `mode`, `dynamic`, `fullgraph` and `options` mean what they mean to `torch.compile`.
    They apply to frames that the capture policy takes, never to the program's own `torch.compile`.
    `profile` asks for torch.profiler around `profile_steps` steady steps.
    """

    recording: str
    capture: str = "auto"
    backend: str = "inductor"
    mode: str | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    options: dict[str, str | int | float | bool] = field(default_factory=dict)
    profile: bool = False
    profile_steps: int = 10

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
        return cls(recording=environment[RECORDING_VARIABLE], **choices)
