"""What came of one backend on one graph."""

from math import inf
from typing import Any, Literal, NamedTuple, get_args

from ..shared.quick_dataclass import dataclass
from ..shared.untrusted import printable

# Each but the first says why a backend was not timed. An unusable one cannot be used here for any graph.
Verdict = Literal["agrees", "disagrees", "declined", "failed", "crashed", "timed out", "unusable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
AGREES, DISAGREES, DECLINED, FAILED, CRASHED, TIMED_OUT, UNUSABLE = VERDICTS


class Round(NamedTuple):
    """Seconds of a call, on average over one batch. `backward` is None where the graph does not train.

    `busy` is the share of the batch in which something waited for a processor; None where the system does not
    say. `counts` is False where that held the calls up for an unknown time (`measuring/calls.py`), where new
    processes did not confirm it, and where the candidate was left out of the round: then it is like the last.
    """

    forward: float
    backward: float | None
    busy: float | None = None
    counts: bool = True

    @property
    def seconds(self) -> float:
        """The seconds of the forward and the backward together."""
        return self.forward + (self.backward or 0.0)


@dataclass(frozen=True)
class Measurement:
    """One candidate on one graph. `rounds` were taken in turn with those of the other candidates.

    `reason` says why the verdict is another than AGREES. `compile_seconds` ends with the first call. Not
    `is_confirmed` is one of several of which different processes said different things to the end.
    """

    candidate: str
    verdict: Verdict
    reason: str | None = None
    compile_seconds: float | None = None
    rounds: tuple[Round, ...] = ()
    is_confirmed: bool = True

    @property
    def counted(self) -> list[Round]:
        """The rounds that count."""
        return [each for each in self.rounds if each.counts]

    @property
    def typical(self) -> Round | None:
        """The round of the median time, of those that count; None if there is none."""
        counted = sorted(self.counted, key=lambda each: each.seconds)
        return counted[(len(counted) - 1) // 2] if counted else None

    @property
    def seconds(self) -> float | None:
        """What a call takes, forward and backward, in a typical round; None if none counts."""
        return None if self.typical is None else self.typical.seconds

    @property
    def forward_seconds(self) -> float | None:
        """The forward's part of the typical seconds."""
        return None if self.typical is None else self.typical.forward

    @property
    def backward_seconds(self) -> float | None:
        """The backward part; None where there is none."""
        return None if self.typical is None else self.typical.backward

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
            "rounds": [
                [_rounded(each.forward), _rounded(each.backward), _rounded(each.busy), each.counts]
                for each in self.rounds
            ],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Measurement":
        """The same back again; KeyError, TypeError or ValueError if it is no such thing."""
        if value["verdict"] not in VERDICTS:
            raise ValueError(f"there is no verdict {value['verdict']!r}")
        rounds = tuple(
            Round(float(forward), _number(backward), _number(busy), bool(counts))
            for forward, backward, busy, counts in value["rounds"]
        )
        if not all(0 < each.seconds < inf for each in rounds):
            raise ValueError("a call took no time, or not a number of seconds")
        reason = value["reason"]
        return cls(
            str(value["candidate"]),
            value["verdict"],
            None if reason is None else printable(str(reason)),
            _number(value["compile_seconds"]),
            rounds,
        )


def _rounded(number: float | None) -> float | None:
    """To four digits, which is more than repeats."""
    return None if number is None else float(f"{number:.4g}")


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
