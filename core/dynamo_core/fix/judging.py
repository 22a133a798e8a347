"""Whether a run with a remedy is a cure: the finding gone, no other come, output and ending the same."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ..bench.measured import compare_outputs
from ..findings import OF_THE_COMPILER, Finding, Kind
from ..model import function_of
from ..shared.quick_dataclass import dataclass
from .trial import Ran, Verdict

# Relative; what compilers and other orders of sums differ by in float32.
TOLERANCE = 1e-4
# A run may take so much longer before it is called slower: the machine has other things to do as well.
_SLOWER, _SLOWER_SECONDS = 1.15, 1.0
_SLOWER_STEP = 1.10
# Of the ops that were in graphs; an edit may take a few out.
_LEAST_CAPTURED = 0.8


@dataclass(frozen=True)
class Observed:
    """A run with what it printed, what was found in its recording, and its own lines of stderr.

    Of `unseen` kinds of findings the recording cannot say that there were none.
    """

    ran: Ran
    stdout: str
    findings: Sequence[Finding]
    stderr: str = ""
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Judgement:
    """The verdict, why, and how often the finding was met in that run."""

    verdict: Verdict
    reason: str
    after: int


def judge(finding: Finding, baseline: Sequence[Observed], tried: Observed, *, is_edit: bool) -> Judgement:
    """What a run with a remedy for `finding` shows, beside the runs without.

    With an edit the text of the line, of which identities are made, is another: then what counts is how many
    findings of the kind the function has.
    """
    first = baseline[0]
    left = times_met(finding, tried.findings, is_edit=is_edit)
    # Fewer than in the best run without: what varies by itself is no remedy's doing.
    was = min(times_met(finding, run.findings, is_edit=is_edit) for run in baseline)
    if (tried.ran.exit_code, tried.ran.signal) != (first.ran.exit_code, first.ran.signal):
        return Judgement("changes the ending", f"the program ended with {_ending(tried.ran)}", left)
    difference = difference_in_output(baseline, tried)
    if difference is not None:
        return Judgement("changes the output", difference, left)
    unseen = not_seen_now(baseline, tried)
    if unseen is not None:
        return Judgement("does not cure", unseen, left)
    if not was:
        return Judgement("does not cure", "a run without it does not have the finding either", left)
    if left >= was:
        return Judgement("does not cure", f"it is met {left} times, as before", left)
    new = _new(baseline, tried.findings, finding, is_edit=is_edit)
    moved = [each for each in new if is_edit and _is_for_the_same_reason(each, finding)]
    if moved:
        met = left + sum(each.evidence.times for each in moved)
        file, function = _function(moved[0])
        return Judgement("does not cure", f"it only moves, into {function or file}", met)
    total_was = min(total_times(run.findings) for run in baseline)
    total = total_times(tried.findings)
    if new and total >= total_was:
        return Judgement("brings other findings", new[0].title, left)
    less = _captures_less(baseline, tried.ran)
    if less is not None:
        return Judgement("brings other findings", less, left)
    slower = _slower(baseline, tried.ran)
    if slower is not None:
        return Judgement("is slower", slower, left)
    if left or new:
        return Judgement("helps", f"{total_was} → {total} in all", left)
    return Judgement("cures", "", 0)


def not_seen_now(baseline: Sequence[Observed], tried: Observed) -> str | None:
    """What a run could not record, in words, and the first run without the remedy could; None for nothing."""
    unseen = sorted(tried.unseen - baseline[0].unseen)
    return f"it could not be recorded whether there was a {unseen[0]}" if unseen else None


def times_met(finding: Finding, findings: Sequence[Finding], *, is_edit: bool = False) -> int:
    """How often the finding was met; after an edit, how often what is like it in the function."""
    same = (each for each in findings if _is_same(finding, each, is_edit))
    return sum(each.evidence.times for each in same)


def total_times(findings: Sequence[Finding]) -> int:
    """How often anything of the compiler's was met."""
    return sum(each.evidence.times for each in findings if each.kind in OF_THE_COMPILER)


def lines_compared(baseline: Sequence[Observed]) -> int:
    """How many lines of output are compared: none where it prints none, or another number each time."""
    numbers = {len(each.stdout.splitlines()) for each in baseline}
    return numbers.pop() if len(numbers) == 1 else 0


def difference_in_output(baseline: Sequence[Observed], tried: Observed) -> str | None:
    """What it prints otherwise, in words; None where it prints the same.

    Words in which the runs without the remedy differ from each other are not compared; stderr, where a
    progress bar or a time may stand anywhere, only if it is the same in all of them.
    """
    difference = _difference([each.stdout for each in baseline], tried.stdout)
    if difference is None and len({each.stderr for each in baseline}) == 1:
        difference = _difference([each.stderr for each in baseline], tried.stderr)
        return None if difference is None else f"on stderr, {difference}"
    return difference


def _difference(without: Sequence[str], text: str) -> str | None:
    expected = without[0].splitlines()
    others = [each.splitlines() for each in without[1:]]
    lines = text.splitlines()
    if any(len(other) != len(expected) for other in others):
        return None if len(lines) else "it prints nothing"  # it never prints the same itself
    if len(lines) != len(expected):
        return f"it prints {len(lines)} lines, not {len(expected)}"
    for number, (was, now) in enumerate(zip(expected, lines, strict=True), 1):
        if not _is_as_printed([was, *(other[number - 1] for other in others)], now):
            return f"line {number} of its output is {now[:80]!r}, not {was[:80]!r}"
    return None


def _is_as_printed(without: Sequence[str], now: str) -> bool:
    """Whether a line is as in the runs without the remedy; of `loss 0.31, 12 ms` the time may differ."""
    was = without[0]
    if all(line == was for line in without):
        return _are_close(was, now)
    words = [line.split() for line in (*without, now)]
    if len({len(each) for each in words[:-1]}) > 1:
        return True  # it is never the same by itself
    if len(words[-1]) != len(words[0]):
        return False
    return all(
        any(other != first for other in others) or _are_close(first, last)
        for first, *others, last in zip(*words, strict=True)
    )


def _are_close(was: str, now: str) -> bool:
    if was == now:
        return True
    compared = compare_outputs(was, now)
    difference = compared.relative_difference
    return compared.likeness != "different" and difference is not None and difference <= TOLERANCE


def _is_same(finding: Finding, other: Finding, is_edit: bool) -> bool:
    if not is_edit:
        return finding.identity == other.identity
    return other.kind == finding.kind and _function(other) == _function(finding)


def _is_for_the_same_reason(one: Finding, other: Finding) -> bool:
    """In torch's own words, which do not name a line."""
    return (
        one.kind == other.kind
        and bool(one.evidence.records)
        and one.evidence.records == other.evidence.records
    )


def _function(finding: Finding) -> tuple[str, str]:
    return PurePath(finding.place.file).name if finding.place else "", function_of(finding.function)


def _new(
    baseline: Sequence[Observed], findings: Sequence[Finding], finding: Finding, *, is_edit: bool
) -> list[Finding]:
    """Findings that no run without the remedy had.

    With an edit, more of a kind than the function had; and in other functions than the finding's, at a line
    where none was: what is moved there is not cured.
    """
    if not is_edit:
        known = {each.identity for run in baseline for each in run.findings}
        return [each for each in findings if each.kind in OF_THE_COMPILER and each.identity not in known]
    had = Counter((each.kind, _function(each)) for each in baseline[0].findings)
    has: Counter[tuple[Kind, tuple[str, str]]] = Counter()
    lines = {(each.kind, _function(each), each.source) for run in baseline for each in run.findings}
    new = []
    for each in findings:
        where = each.kind, _function(each)
        has[where] += 1
        is_elsewhere = _function(each) != _function(finding) and (*where, each.source) not in lines
        if each.kind in OF_THE_COMPILER and (has[where] > had[where] or is_elsewhere):
            new.append(each)
    return new


def _captures_less(baseline: Sequence[Observed], tried: Ran) -> str | None:
    """In words, where so much runs eager now that was in graphs: a break can be gone with its whole frame."""
    was = [run.ran.captured_ops for run in baseline if run.ran.captured_ops is not None]
    now = tried.captured_ops
    if not was or now is None or now >= _LEAST_CAPTURED * min(was):
        return None
    return f"the graphs have {now:,} ops, not {min(was):,}: more of the program runs eager"


def _slower(baseline: Sequence[Observed], tried: Ran) -> str | None:
    """By its steps where it has some, else by the whole run."""
    steps = [each.ran.step_seconds for each in baseline if each.ran.step_seconds is not None]
    if steps and tried.step_seconds is not None:
        if tried.step_seconds > _SLOWER_STEP * max(steps):
            return f"a step takes {tried.step_seconds / max(steps):.2f} times as long"
        return None
    longest, most = (max(getattr(each.ran, name) for each in baseline) for name in ("seconds", "cpu_seconds"))
    # Both: a busy machine makes a run longer, and threads that wait for each other make it compute more.
    takes_longer = tried.seconds > _SLOWER * longest + _SLOWER_SECONDS
    if takes_longer and tried.cpu_seconds > _SLOWER * most + _SLOWER_SECONDS:
        return f"the run takes {tried.seconds / longest:.2f} times as long"
    return None


def _ending(ran: Ran) -> str:
    return f"exit code {ran.exit_code}" if ran.signal is None else f"signal {ran.signal}"


# What of a run's stderr is the program's own: not torch's log, not warnings, and nothing of ours.
#
# Where torch compiles otherwise it also logs and warns otherwise, and an edit moves the lines that are named.


# Level, month and day, time: TorchLogsFormatter of torch/_logging/_internal.py, and c10/util/Logging.cpp.
_LOGGED = re.compile(r"^\[?(?:rank\d{1,6}\]:)?\[?[VDIWEC]\d{4} \d\d:\d\d:\d\d")
_WARNING = re.compile(r":\d{1,9}: \w{0,60}Warning: ")
_LINE_NUMBER = re.compile(r"(\bline |\.py:)\d{1,9}")


def own_lines(stderr: str) -> str:
    """Those lines, without the numbers of lines of source."""
    return "\n".join(_LINE_NUMBER.sub(r"\1…", line) for line in _own(stderr.splitlines()))


def _own(lines: list[str]) -> Iterator[str]:
    warned = False
    for line in lines:
        if warned and line.startswith("  "):  # the source that a warning shows
            warned = False
            continue
        warned = _WARNING.search(line) is not None
        if not (warned or _LOGGED.match(line) or line.startswith("dynamo: ")):
            yield line
