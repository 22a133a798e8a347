"""Whether a backend computes what eager computes: the verdict of the run with --verify."""

from typing import Literal

from ..analysis.verification import verification
from ..analysis.verification_sentences import not_compared_lines, verified_sentence, wrong_lines
from ..model import Recording
from ..shared.quick_dataclass import dataclass

Verdict = Literal["agrees", "disagrees", "not verified"]


@dataclass(frozen=True)
class Agreement:
    """The verdict, and why: the graph, output and node that disagree, or what kept it from being verified.

    A backend agrees if no graph disagrees and at least one could be compared; `detail` says how many.
    """

    verdict: Verdict
    detail: str | None = None


def not_verified(why: str) -> Agreement:
    """Nothing is known."""
    return Agreement("not verified", why)


def agreement_of(recording: Recording) -> Agreement:
    """What the verified run found."""
    found = verification(recording)
    if found is None or not found.graphs:
        return not_verified("no graph was compiled")
    if found.wrong:
        return Agreement("disagrees", "; ".join(wrong_lines(found, recording)).removeprefix("disagrees: "))
    told = "; ".join([verified_sentence(found), *not_compared_lines(found, recording)])
    return Agreement("agrees", told) if found.agreeing else not_verified(told)
