"""What a program fails with, so that a smaller program can be held to the same failure."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from ..model import Recording
from ..shared.quick_dataclass import dataclass

Kind = Literal["wrong result", "exception", "crash", "hang", "graph break", "recompile"]

OUTPUT = "output"  # the type of a failure that is no error: what the program prints
_LINES = 2  # of a message that count, and one behind a colon; others are hints, or quote the program
_LONGEST = 300  # characters of a message that count
_COMMENT = re.compile(r"\s\s# .*")  # behind a guard: the line and the file that it is of
_STACK = "User stack trace"  # behind the guards that failed
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_DIFFERS = (
    (_ADDRESS, "0x…"),
    (re.compile(r"'[^'\n]{1,80}'"), "'…'"),  # names
    (re.compile(r"(?<![\w.])(?:/[\w.+-]+)+(?:\.\w+)?"), "…"),  # paths
    (re.compile(r"\b[sui]\d+\b"), "N"),  # symbolic sizes
    (re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"), "N"),
    (re.compile(r"N(?:, N)+"), "N"),  # shapes of any length
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?(?![\w])")
_ROUNDED = 1e-2  # relative and absolute
_NOT_CLOSE = ("Tensor-likes are not", "Scalars are not")


@dataclass(frozen=True)
class Failure:
    """A failure: its kind, the type of its error, and its message without what may differ.

    `full_message` is the message as it came.
    """

    kind: Kind
    type: str
    message: str
    full_message: str = ""

    def is_same(self, other: "Failure | None") -> bool:
        """Whether another failure is this one: kind, type and message."""
        return other is not None and (self.kind, self.type, self.message) == (
            other.kind,
            other.type,
            other.message,
        )


def normalized(message: str) -> str:
    """The first lines of a message, without numbers, addresses, paths, names and symbolic sizes."""
    if message.strip().startswith(_NOT_CLOSE):
        return "values differ"  # of a tensor, or of a number
    lines = [_COMMENT.sub("", line).strip() for line in message.splitlines() if line.strip()]
    count = next((i for i, line in enumerate(lines, 1) if i >= _LINES and not line.endswith(":")), None)
    text = " ".join(lines[:count])
    for pattern, instead in _DIFFERS:
        text = pattern.sub(instead, text)
    return text[:_LONGEST]


def failures_of(outcome: Mapping[str, Any], plain: Mapping[str, Any]) -> list[Failure]:
    """What a program that was run (`trial_server.py`) failed with beside its run in plain Python.

    A graph break and a recompile are failures only of somebody who asks for them.
    """
    found = [] if (failure := failure_of(outcome)) is None else [failure]
    if failure is None and outputs_differ(str(plain.get("output", "")), str(outcome.get("output", ""))):
        found.append(Failure("wrong result", OUTPUT, "", "it prints something else"))
    found += [graph_break(each) for each in outcome.get("breaks", ())]
    return found + [recompile(each) for each in outcome.get("recompiles", ())]


def graph_break(text: str) -> Failure:
    """The failure that torch's text about a graph break describes, by the reason that stands in it.

    torch's counters know no break for data-dependent branching, and count those of one reason as one.
    Source: torch/_dynamo/symbolic_convert.py (log_graph_break), 2.8 to 2.15.
    """
    reason = (text.partition("Reason: ")[2] or text).partition("\nUser code traceback")[0].strip()
    first, _, rest = reason.partition("\n\n")
    if first.endswith(":"):  # what was traced as it broke
        reason = rest
    return Failure("graph break", "", normalized(reason), reason)


def recompile(text: str) -> Failure:
    """The failure that torch's text about a recompile describes, by the guards that failed."""
    of_guards = text.partition(_STACK)[0].splitlines()
    guards = [_COMMENT.sub("", line).strip(" -") for line in of_guards if line.strip().startswith("- ")]
    reasons = "; ".join(each.partition(": ")[2] or each for each in guards) or text
    return Failure("recompile", "", normalized(reasons), reasons)


def outputs_differ(plain: str, compiled: str) -> bool:
    """Whether two outputs differ by more than the rounding of their numbers; addresses do not count."""
    plain, compiled = (_ADDRESS.sub("0x", each) for each in (plain, compiled))
    # torch sets the numbers of a tensor in columns: their width is no difference.
    ours, theirs = ([part.split() for part in _NUMBER.split(each)] for each in (plain, compiled))
    if ours != theirs:
        return True
    pairs = zip(_NUMBER.findall(plain), _NUMBER.findall(compiled), strict=True)
    return any(abs(float(a) - float(b)) > _ROUNDED * max(1.0, abs(float(a))) for a, b in pairs)


def failure_of(outcome: Mapping[str, Any]) -> Failure | None:
    """How a program ended that did not pass; None where it did."""
    ending, message = outcome["ending"], str(outcome.get("message", ""))
    if ending == "passed":
        return None
    if ending == "hang":
        return Failure("hang", "", "", message)
    if ending == "signal":
        return Failure("crash", message, "", message)
    if ending == "exited":
        return Failure("exception", "SystemExit", message, f"exit code {message}")
    where = str(outcome.get("where", ""))
    if outcome["type"] == "AssertionError" and where.endswith(("torch/testing/_comparison.py", "repro.py")):
        return Failure("wrong result", "AssertionError", normalized(message), message)
    return Failure("exception", str(outcome["type"]), normalized(message), message)


def shows_a_failure(recording: Recording) -> bool:
    """Whether something is known to be wrong with the recorded program: a result, or how it ended."""
    calls = (call for each in recording.processes for call in each.interventions.verified_program_calls)
    ended = recording.run is not None and (recording.run.exit_code, recording.run.signal) != (0, None)
    return ended or any(call.outcome == "disagrees" for call in calls)
