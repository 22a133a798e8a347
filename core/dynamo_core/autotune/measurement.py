"""What came of one backend on one graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

AGREES = "agrees"
# Why a backend was not timed. An unusable one cannot be used here for any graph.
DISAGREES, DECLINED, FAILED, CRASHED, TIMED_OUT, UNUSABLE = (
    "disagrees",
    "declined",
    "failed",
    "crashed",
    "timed out",
    "unusable",
)
VERDICTS = (AGREES, DISAGREES, DECLINED, FAILED, CRASHED, TIMED_OUT, UNUSABLE)


class Round(NamedTuple):
    """Seconds of a call, on average over one batch. `backward` is None where the graph does not train."""

    forward: float
    backward: float | None

    @property
    def seconds(self) -> float:
        """Of the whole call."""
        return self.forward + (self.backward or 0.0)


@dataclass(frozen=True)
class Measurement:
    """One candidate on one graph. `rounds` were taken in turn with those of the other candidates.

    `reason` says why the verdict is another than AGREES. `compile_seconds` ends with the first call.
    """

    candidate: str
    verdict: str
    reason: str | None = None
    compile_seconds: float | None = None
    rounds: tuple[Round, ...] = ()

    @property
    def seconds(self) -> float | None:
        """The median time of a call, forward and backward; None if it was not timed."""
        return median(each.seconds for each in self.rounds) if self.rounds else None

    @property
    def forward_seconds(self) -> float | None:
        """The median time of the forward part."""
        return median(each.forward for each in self.rounds) if self.rounds else None

    @property
    def backward_seconds(self) -> float | None:
        """The median time of the backward part; None where there is none."""
        backward = [each.backward for each in self.rounds if each.backward is not None]
        return median(backward) if backward else None

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "candidate": self.candidate,
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": self.seconds,
            "forward_seconds": self.forward_seconds,
            "backward_seconds": self.backward_seconds,
            "compile_seconds": self.compile_seconds,
            "rounds": [list(each) for each in self.rounds],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Measurement":
        """The same back again; KeyError, TypeError or ValueError if it is no such thing."""
        if value["verdict"] not in VERDICTS:
            raise ValueError(f"there is no verdict {value['verdict']!r}")
        rounds = tuple(Round(float(f), None if b is None else float(b)) for f, b in value["rounds"])
        return cls(
            str(value["candidate"]), value["verdict"], value["reason"], value["compile_seconds"], rounds
        )


# A candidate replaces a simpler one if it is faster by more than this share, ...
MARGIN = 0.03
# ... and was the faster one in at least this share of the rounds.
ROUNDS_WON = 0.8


def is_faster(candidate: Measurement, simpler: Measurement) -> bool:
    """Whether the candidate is faster by more than the noise of rounds taken in turn.

    Its median must be lower by MARGIN, and it must have won ROUNDS_WON of the rounds: twelve of fifteen,
    which happens by chance in 2 % of the cases where both are equally fast.
    """
    if candidate.seconds is None or simpler.seconds is None:
        return False
    pairs = list(zip(candidate.rounds, simpler.rounds, strict=False))
    won = sum(ours.seconds < theirs.seconds for ours, theirs in pairs)
    return candidate.seconds <= (1 - MARGIN) * simpler.seconds and won >= ROUNDS_WON * len(pairs)


def winner(measurements: Sequence[Measurement]) -> str | None:
    """The candidate to use, of measurements in the order from the simplest; None if none could be timed."""
    best: Measurement | None = None
    for measurement in measurements:
        if measurement.seconds is not None and (best is None or is_faster(measurement, best)):
            best = measurement
    return None if best is None else best.candidate
