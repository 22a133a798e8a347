"""Which candidate wins, as far as the rounds tell: each is compared with each, round by round.

A candidate wins if every simpler one is slower by more than MARGIN, and no other is faster (`standing`),
both as sure as SURE says. Where there is none, the rounds do not decide, and more of them may: of two that
take the same time, the simpler one wins then.

Two processes that run the same code can differ for as long as they live, perhaps by where their memory lies:
1.9 times was seen. So a winner that is ahead by less than CLOSE has to be ahead in other processes as well
(`to_confirm`).
"""

from collections.abc import Sequence
from typing import Literal

from ..shared.quick_dataclass import dataclass
from ..timing.ratios import SURE, Ratio, ratio_of
from ..tuned.measurement import AGREES, Measurement

# What a candidate gains over a simpler one must be more than this share of the time.
MARGIN = 0.03
# A lead over a simpler candidate that is less than this may be one of the processes.
CLOSE = 1.0
# So many rounds, in which both count, two candidates are compared by at least.
LEAST_PAIRS = 5

Standing = Literal["winner", "no faster", "slower", "undecided"]


@dataclass(frozen=True)
class Decision:
    """The `winner`; or None, and the candidates `between` which the rounds do not decide.

    There are none of those where no candidate could be used.
    """

    winner: str | None
    between: tuple[str, ...] = ()


def decide(measurements: Sequence[Measurement]) -> Decision:
    """Of measurements in the order from the simplest candidate. One that is alone wins without any rounds."""
    sound = [each for each in measurements if each.verdict == AGREES]
    for position, candidate in enumerate(sound):
        is_better = all(is_far_behind(each, candidate) for each in sound[:position])
        others = [standing(each, candidate) for each in sound[position + 1 :]]
        if is_better and "undecided" not in others and candidate.is_confirmed:
            return Decision(candidate.candidate)
    unconfirmed = tuple(each.candidate for each in sound if not each.is_confirmed)
    best = fastest(sound)
    between = unconfirmed or tuple(each.candidate for each in sound if not is_far_behind(each, best))
    return Decision(None, between)


def out_of_it(measurements: Sequence[Measurement]) -> set[str]:
    """Those that no further round can make the winner: slower than all open ones by more than MARGIN."""
    decision = decide(measurements)
    sound = [each for each in measurements if each.verdict == AGREES]
    open_ = [each for each in sound if each.candidate in decision.between]
    return {
        each.candidate
        for each in sound
        if each not in open_ and all(is_far_behind(each, other) for other in open_)
    }


def to_confirm(measurements: Sequence[Measurement]) -> list[str]:
    """The winner and the simpler candidates that are close behind it; nothing where there are none."""
    sound = [each for each in measurements if each.verdict == AGREES]
    winner = next((each for each in sound if each.candidate == decide(sound).winner), None)
    if winner is None:
        return []
    close = [each for each in sound[: sound.index(winner)] if _lead(winner, each) < CLOSE]
    return [each.candidate for each in (*close, winner)] if close else []


def _lead(winner: Measurement, other: Measurement) -> float:
    ratio = beside(other, winner)
    return 0.0 if ratio is None else ratio.estimate - 1


def is_far_behind(candidate: Measurement, other: Measurement | None) -> bool:
    """Whether it is slower by more than MARGIN, beyond doubt."""
    return (
        other is not None
        and candidate is not other
        and standing(candidate, other) == "slower"
        and (ratio := beside(candidate, other)) is not None
        and ratio.low > 1 + MARGIN
    )


def fastest(measurements: Sequence[Measurement]) -> Measurement | None:
    """The one of the shortest typical round; None if no round counts."""
    timed = [each for each in measurements if each.seconds is not None]
    return min(timed, key=lambda each: each.seconds or 0.0, default=None)


def standing(candidate: Measurement, best: Measurement) -> Standing:
    """How a candidate stands beside the one that may be the best.

    Slower is what takes longer beyond doubt; no faster, what was not found to be faster by more than MARGIN,
    and beyond doubt is not by more than twice that. (If that were MARGIN as well, no number of rounds would
    decide about two that are apart by just that.)
    """
    if candidate is best:
        return "winner"
    ratio = beside(candidate, best)
    if ratio is None or ratio.rounds < LEAST_PAIRS or candidate.seconds is None or best.seconds is None:
        return "undecided"
    if ratio.low > 1 and candidate.seconds > best.seconds:
        return "slower"
    is_no_faster = ratio.estimate >= 1 - MARGIN and ratio.low >= 1 - 2 * MARGIN
    return "no faster" if is_no_faster else "undecided"


def beside(candidate: Measurement, other: Measurement) -> Ratio | None:
    """How many times as long the candidate takes, by the rounds in which both count; None without any."""
    pairs = [
        (mine.seconds, theirs.seconds)
        for mine, theirs in zip(candidate.rounds, other.rounds, strict=False)
        if mine.counts and theirs.counts
    ]
    return ratio_of(pairs, SURE)
