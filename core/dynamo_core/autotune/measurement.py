"""What came of one backend on one graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any, NamedTuple

from ..shared.untrusted import printable

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


# From how much of it on (see `noise`) the machine counts as busy with something else.
NOISY = 1.5


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
    def fastest(self) -> Round | None:
        """The round that counts: what else goes on in the machine only adds to the others."""
        return min(self.rounds, key=lambda each: each.seconds, default=None)

    @property
    def seconds(self) -> float | None:
        """What a call takes, forward and backward, in the fastest round; None if it was not timed."""
        return None if self.fastest is None else self.fastest.seconds

    @property
    def forward_seconds(self) -> float | None:
        """The forward part of it."""
        return None if self.fastest is None else self.fastest.forward

    @property
    def backward_seconds(self) -> float | None:
        """The backward part; None where there is none."""
        return None if self.fastest is None else self.fastest.backward

    @property
    def noise(self) -> float | None:
        """How many times the fastest round's time half of the rounds took at least."""
        if not self.rounds or not self.seconds:
            return None
        return median(each.seconds for each in self.rounds) / self.seconds

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "candidate": self.candidate,
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": _rounded(self.seconds),
            "forward_seconds": _rounded(self.forward_seconds),
            "backward_seconds": _rounded(self.backward_seconds),
            "compile_seconds": _rounded(self.compile_seconds),
            "rounds": [[_rounded(each.forward), _rounded(each.backward)] for each in self.rounds],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Measurement":
        """The same back again; KeyError, TypeError or ValueError if it is no such thing."""
        if value["verdict"] not in VERDICTS:
            raise ValueError(f"there is no verdict {value['verdict']!r}")
        rounds = tuple(Round(float(f), None if b is None else float(b)) for f, b in value["rounds"])
        if not all(0 < each.seconds < inf for each in rounds):
            raise ValueError("a call took no time, or not a number of seconds")
        reason, compile_seconds = value["reason"], value["compile_seconds"]
        return cls(
            str(value["candidate"]),
            value["verdict"],
            None if reason is None else printable(str(reason)),
            None if compile_seconds is None else float(compile_seconds),
            rounds,
        )


# A candidate replaces a simpler one if its fastest round is faster by more than this share, ...
MARGIN = 0.03
# ... and this share of its rounds, but no fewer than three, are faster than the fastest of the simpler one.
ROUNDS_BELOW = 0.25


def is_faster(candidate: Measurement, simpler: Measurement) -> bool:
    """Whether the candidate is faster by more than the noise of rounds taken in turn.

    Of twenty rounds each, five of the candidate's are below all of the simpler one's by chance in 2 % of the
    cases where both are equally fast; of eight, three in 10 %.
    """
    if candidate.seconds is None or simpler.seconds is None:
        return False
    below = sum(each.seconds < simpler.seconds for each in candidate.rounds)
    is_clear = below >= max(3, ROUNDS_BELOW * len(candidate.rounds))
    return is_clear and candidate.seconds <= (1 - MARGIN) * simpler.seconds


def _rounded(seconds: float | None) -> float | None:
    """To four digits, which is more than repeats."""
    return None if seconds is None else float(f"{seconds:.4g}")


def winner(measurements: Sequence[Measurement]) -> str | None:
    """The candidate to use, of measurements in the order from the simplest; None if none could be timed."""
    best: Measurement | None = None
    for measurement in measurements:
        if measurement.seconds is not None and (best is None or is_faster(measurement, best)):
            best = measurement
    return None if best is None else best.candidate
