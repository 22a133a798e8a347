"""Whether a backend computes what eager computes: in words, from what the verified run recorded."""

from dataclasses import dataclass
from typing import Literal

from dynamo_core.model import Recording

Verdict = Literal["agrees", "disagrees", "not verified"]


@dataclass(frozen=True)
class Agreement:
    """The verdict, and why: the graph, output and node that disagree, or what kept it from being verified."""

    verdict: Verdict
    detail: str | None = None


def not_verified(why: str) -> Agreement:
    """Nothing is known."""
    return Agreement("not verified", why)


CONTENTS: frozenset[str] = frozenset()


def agreement_of(recording: Recording) -> Agreement:
    """What the verified run found."""
    return not_verified("the recording does not say")
