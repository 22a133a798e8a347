"""Judge a run with a remedy: the finding is gone, no other is new, output and ending are the same.

Torch's log and warnings on stderr are not compared: with a remedy torch compiles differently, so it also logs
and warns differently, and an edit moves the lines that are named.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from ..bench.measured import compare_outputs
from ..findings import OF_THE_COMPILER, Finding
from ..findings.matching import KnownFinding, known_finding, pair_findings
from ..shared.quick_dataclass import dataclass
from .trial import RunResult, Verdict

# Relative: what compilers and another order of summation differ by in float32.
TOLERANCE = 1e-4
# A factor and seconds that a run may be slower by, since the machine does other work as well.
_SLOWER, _SLOWER_SECONDS = 1.15, 1.0
_SLOWER_STEP = 1.10
# The least share of the captured ops that must stay in graphs; an edit may take a few out.
_LEAST_CAPTURED = 0.8
_FEW_OPS = 3  # of a graph that saves nothing


@dataclass(frozen=True)
class ObservedRun:
    """The result of a run, what it printed, and the findings of its recording.

    `stderr` has the program's own lines only (`program_stderr`). `unseen` are the kinds of findings that the
    recording cannot rule out.
    """

    result: RunResult
    stdout: str
    findings: Sequence[Finding]
    stderr: str = ""
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OutputDifference:
    """A difference in what a run prints, in words, and whether its line differs in numbers alone."""

    text: str
    is_in_numbers: bool = False


@dataclass(frozen=True)
class Judgement:
    """The verdict on a run, the reason, and how often the finding was met in it."""

    verdict: Verdict
    reason: str
    after: int


def judge(
    finding: Finding,
    baseline: Sequence[ObservedRun],
    tried: ObservedRun,
    *,
    is_edit: bool,
    must_gain: bool = False,
) -> Judgement:
    """Judge a run with a remedy for `finding` against the `baseline` runs without it.

    A remedy that `must_gain` only moves what is in the way: it is a cure where the run shows a gain. Of a
    program that crashes it is judged whether the crash is gone: behind it, the program may have other
    findings and takes longer.
    """
    compared = ComparedFindings(baseline, tried.findings)
    left = compared.times_left(finding)
    # Compared with the best baseline run: what varies by itself is not the effect of a remedy.
    was = min(times_met(finding, run.findings) for run in baseline)
    harm = _harm(baseline, tried)
    if harm is not None:
        return Judgement(*harm, left)
    if not was:
        return Judgement("does not cure", "a run without it does not have the finding either", left)
    if left >= was:
        return Judgement("does not cure", f"it is met {left} times, as before", left)
    if crash_is_gone(baseline, tried):
        return Judgement("helps" if left else "cures", _crash_words(baseline), left)
    limits = compared.new_limits()
    if limits:
        return Judgement("brings other findings", limits[0].title, left)
    new = compared.new_findings(finding)
    moved = [each for each in new if is_edit and _is_for_the_same_reason(each, finding)]
    if moved:
        met = left + sum(each.evidence.times for each in moved)
        file, function = _function(moved[0])
        return Judgement("does not cure", f"it only moves, into {function or file}", met)
    total_was = min(total_times(run.findings) for run in baseline)
    total = total_times(tried.findings)
    gains = _gains(baseline, tried.result)
    uncovers = _uncovers(finding, baseline, tried.result) and not any(
        _is_before(each, finding) for each in new
    )
    if new and total >= total_was and not uncovers and not (gains and all(map(_is_paid_once, new))):
        return Judgement("brings other findings", new[0].title, left)
    breaks = [each for each in new if each.kind == finding.kind == "graph break"]
    met = left + sum(each.evidence.times for each in breaks)
    if breaks and met >= was:  # lines behind a break are traced with it as well, and had none
        return Judgement("does not cure", f"it only moves: {breaks[0].title}", met)
    captures_less = _captures_less(baseline, tried.result)
    if captures_less is not None:
        return Judgement("brings other findings", captures_less, left)
    slower = _slowdown(baseline, tried.result)
    if slower is not None:
        return Judgement("is slower", slower, left)
    if must_gain and not gains:
        return Judgement("does not cure", "it leaves as many graphs, and no step is faster", left)
    if left or (new and not uncovers):
        come = f"; new is: {new[0].title}" if new else ""
        return Judgement("helps", f"{total_was} → {total} in all{come}", left)
    return Judgement("cures", f"behind it came: {new[0].title}" if new else "", 0)


def judge_together(
    baseline: Sequence[ObservedRun], tried: ObservedRun, cured: Sequence[Finding]
) -> Judgement:
    """Judge a run with all kept remedies beside eager; `cured` are the findings that each cures by itself."""
    before, after = total_times(baseline[0].findings), total_times(tried.findings)
    wrong = [each for each in tried.findings if each.kind == "wrong result"]
    if wrong:
        return Judgement("disagrees with eager", wrong[0].title, after)
    harm = _harm(baseline, tried)
    if harm is not None:
        return Judgement(*harm, after)
    compared = ComparedFindings(baseline, tried.findings)
    is_gone = crash_is_gone(baseline, tried)
    limits = [] if is_gone else compared.new_limits()
    again = compared.met_again(cured) or next(iter(limits), None)
    if again is not None:
        return Judgement("brings other findings", again.title, after)
    # What each cures by itself is gone here as well: lines behind it may be traced now, and have their own.
    is_better = after < before or is_gone or bool(cured)
    is_better = is_better or _lasting(tried.findings) < _lasting(baseline[0].findings)
    verdict: Verdict = "cures" if after == 0 else "helps" if is_better else "does not cure"
    return Judgement(verdict, _crash_words(baseline) if is_gone else "", after)


def _harm(baseline: Sequence[ObservedRun], tried: ObservedRun) -> tuple[Verdict, str] | None:
    """The verdict and its reason where the run ends or prints otherwise, or did not record as much."""
    first = baseline[0].result
    has_same_ending = (tried.result.exit_code, tried.result.signal) == (first.exit_code, first.signal)
    if not has_same_ending and not crash_is_gone(baseline, tried):
        return "changes the ending", f"the program ended with {ending_words(tried.result)}"
    difference = difference_in_output(baseline, tried)
    if difference is not None:
        return "changes the output", difference.text
    unseen = newly_unrecorded(baseline, tried)
    return None if unseen is None else ("does not cure", unseen)


_TRACEBACK = "Traceback (most recent call last):"


def crash_is_gone(baseline: Sequence[ObservedRun], tried: ObservedRun) -> bool:
    """Whether all runs without a remedy ended by an exception or a signal, and this one did not fail."""
    return tried.result.exit_code == 0 and all(
        run.result.signal is not None or (run.result.exit_code != 0 and _TRACEBACK in run.stderr)
        for run in baseline
    )


def _crash_words(baseline: Sequence[ObservedRun]) -> str:
    return f"the program ends with exit code 0 instead of {ending_words(baseline[0].result)}"


def newly_unrecorded(baseline: Sequence[ObservedRun], tried: ObservedRun) -> str | None:
    """In words, what this run could not record though the first baseline run could; None for nothing."""
    unseen = sorted(tried.unseen - baseline[0].unseen)
    return f"it could not be recorded whether there was a {unseen[0]}" if unseen else None


def times_met(finding: Finding, findings: Sequence[Finding]) -> int:
    """How often the finding, and those that differ from it by their order alone, were met."""
    return sum(each.evidence.times for each in _alike(finding, findings))


def _alike(finding: Finding, findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if _known(each).parts == _known(finding).parts]


def _known(finding: Finding) -> KnownFinding:
    return known_finding(finding.identity, finding)


class ComparedFindings:
    """The findings of a run beside those of the runs without a remedy."""

    def __init__(self, baseline: Sequence[ObservedRun], findings: Sequence[Finding]) -> None:
        before = {each.identity: each for run in reversed(baseline) for each in run.findings}
        self._before, self._after = before, {each.identity: each for each in findings}
        self._pairs = pair_findings(map(_known, before.values()), map(_known, findings))
        self._were = {now: before[was] for was, now in self._pairs.items()}

    def times_left(self, finding: Finding) -> int:
        """How often the finding and those like it were met in the run."""
        left = [self._pairs.get(each.identity) for each in _alike(finding, self._before.values())]
        return sum(self._after[identity].evidence.times for identity in left if identity is not None)

    def new_findings(self, finding: Finding) -> list[Finding]:
        """The findings of the compiler's kinds that no run without a remedy had.

        A remedy for `finding` edits no line but its function's: at another line elsewhere, all are new.
        """

        def is_new(each: Finding) -> bool:
            was = self._were.get(each.identity)
            is_elsewhere = _function(each) != _function(finding)
            return was is None or (is_elsewhere and _known(was).calculated != _known(each).calculated)

        return [each for each in self._after.values() if each.kind in OF_THE_COMPILER and is_new(each)]

    def new_limits(self) -> list[Finding]:
        """The functions whose calls run eager since torch's limit was hit, as in no run without a remedy.

        A break that is cured may make a whole function of what was a small one that is compiled in each call.
        """

        def is_new(each: Finding) -> bool:
            was = self._were.get(each.identity)
            return was is None or was.kind != each.kind or _function(was) != _function(each)

        return [each for each in self._after.values() if each.kind == "recompile limit" and is_new(each)]

    def met_again(self, cured: Sequence[Finding]) -> Finding | None:
        """A finding of the run that was cured, or a new one of a cured one's kind in its function."""
        identities = {each.identity for each in cured}
        functions = {(each.kind, _function(each)) for each in cured}

        def is_met_again(each: Finding) -> bool:
            was = self._were.get(each.identity)
            return (each.kind, _function(each)) in functions if was is None else was.identity in identities

        return next(filter(is_met_again, self._after.values()), None)


def _function(finding: Finding) -> tuple[str, str]:
    """The name of the file and of the function that a finding is in."""
    known = _known(finding)
    return known.file, known.function


def total_times(findings: Sequence[Finding]) -> int:
    """How often any finding of the compiler's kinds was met."""
    return sum(each.evidence.times for each in findings if each.kind in OF_THE_COMPILER)


def lines_compared(baseline: Sequence[ObservedRun]) -> int:
    """How many lines have a word in common in all baseline runs; 0 where these print more or fewer lines."""
    outputs = [each.stdout.splitlines() for each in baseline]
    if len({len(lines) for lines in outputs}) > 1:
        return 0
    return sum(_have_a_common_word(lines) for lines in zip(*outputs, strict=True))


def _have_a_common_word(lines: Sequence[str]) -> bool:
    words = [line.split() for line in lines]
    is_as_long = len({len(each) for each in words}) == 1
    return is_as_long and any(len(set(at_one_place)) == 1 for at_one_place in zip(*words, strict=True))


def difference_in_output(baseline: Sequence[ObservedRun], tried: ObservedRun) -> OutputDifference | None:
    """The difference in what the run prints; None where there is none.

    Words in which the baseline runs differ from each other are not compared. Stderr may have a progress bar
    or a time anywhere, so it is compared only if it is the same in all baseline runs. Where the run does not
    crash as they do, what it prints behind the crash is not compared, nor stderr.
    """
    goes_on = crash_is_gone(baseline, tried)
    difference = _difference([each.stdout for each in baseline], tried.stdout, goes_on=goes_on)
    if difference is None and not goes_on and len({each.stderr for each in baseline}) == 1:
        difference = _difference([each.stderr for each in baseline], tried.stderr)
        return None if difference is None else replace(difference, text=f"on stderr, {difference.text}")
    return difference


def _difference(baseline: Sequence[str], text: str, *, goes_on: bool = False) -> OutputDifference | None:
    expected = baseline[0].splitlines()
    others = [each.splitlines() for each in baseline[1:]]
    lines = text.splitlines()
    if any(len(other) != len(expected) for other in others):  # its output varies even without a remedy
        return None if lines else OutputDifference("it prints nothing")
    if len(lines) < len(expected) or (len(lines) > len(expected) and not goes_on):
        return OutputDifference(f"it prints {len(lines)} lines, not {len(expected)}")
    for number, (was, now) in enumerate(zip(expected, lines, strict=False), 1):
        if not _is_expected([was, *(other[number - 1] for other in others)], now):
            is_in_numbers = compare_outputs(was, now).likeness == "numbers"
            text = f"line {number} of its output is {now[:80]!r}, not {was[:80]!r}"
            return OutputDifference(text, is_in_numbers)
    return None


def _is_expected(baseline: Sequence[str], now: str) -> bool:
    """Whether a line is as in the baseline runs; of `loss 0.31, 12 ms` the time may differ."""
    was = baseline[0]
    if all(line == was for line in baseline):
        return _are_close(was, now)
    words = [line.split() for line in (*baseline, now)]
    if len({len(each) for each in words[:-1]}) > 1:
        return True  # the line varies even without a remedy
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


def _lasting(findings: Sequence[Finding]) -> int:
    """How often findings were met that cost further calls something."""
    return total_times([each for each in findings if not _is_paid_once(each)])


def _is_paid_once(finding: Finding) -> bool:
    """Whether it is a recompile that happened once, which costs no later call anything."""
    return finding.kind == "recompile" and finding.evidence.times == 1


def _is_for_the_same_reason(one: Finding, other: Finding) -> bool:
    """Whether both are of one kind with the same reason in torch's own words, which do not name a line."""
    return (
        one.kind == other.kind
        and bool(one.evidence.records)
        and one.evidence.records == other.evidence.records
    )


def _captures_less(baseline: Sequence[ObservedRun], tried: RunResult) -> str | None:
    """In words, where too many ops left the graphs: a break is also gone where its frame runs eager.

    What ran in graphs of a few ops that are no more called is no loss: they cost more than such ops.
    """
    was = [run.result for run in baseline if run.result.captured_ops is not None]
    now = tried.captured_ops
    before = min((each.captured_ops or 0 for each in was), default=0)
    fewer_calls = min((each.graph_calls or 0 for each in was), default=0) - (tried.graph_calls or 0)
    if not was or now is None or now >= min(_LEAST_CAPTURED * before, before - _FEW_OPS * fewer_calls):
        return None
    return f"{now:,} ops ran in graphs, not {before:,}: more of the program runs eager"


def _uncovers(finding: Finding, baseline: Sequence[ObservedRun], tried: RunResult) -> bool:
    """Whether a frame that ran eager is compiled now, so that what stands behind its line is met at first."""
    return finding.kind == "fell back to eager" and _captures_more(baseline, tried)


def _is_before(one: Finding, other: Finding) -> bool:
    """Whether one stands above the other in its function, where the frame that ran eager met it as well."""
    if one.place is None or other.place is None or one.kind == "recompile":
        return False
    return _function(one) == _function(other) and one.place.line < other.place.line


def _captures_more(baseline: Sequence[ObservedRun], tried: RunResult) -> bool:
    now, runs = tried.captured_ops, [run.result.captured_ops for run in baseline]
    return now is not None and all(each is not None and each < now for each in runs)


def _gains(baseline: Sequence[ObservedRun], tried: RunResult) -> bool:
    """Whether the run has fewer graphs or frames, more ops in graphs or faster steps than all without."""
    runs = [run.result for run in baseline]
    return (
        _is_below(tried.graphs, [run.graphs for run in runs])
        or _is_below(tried.frames, [run.frames for run in runs])
        or _is_below(tried.step_seconds, [run.step_seconds for run in runs])
        or _captures_more(baseline, tried)
    )


def _is_below(value: float | None, others: Sequence[float | None]) -> bool:
    return value is not None and all(other is not None and value < other for other in others)


def _slowdown(baseline: Sequence[ObservedRun], tried: RunResult) -> str | None:
    """In words, where the run is slower: by its steps where it has some, else by the whole run.

    What compiles for the first time takes longer, in a short run, than what compiled nothing.
    """
    steps = [each.result.step_seconds for each in baseline if each.result.step_seconds is not None]
    if steps and tried.step_seconds is not None:
        if tried.step_seconds > _SLOWER_STEP * max(steps):
            return f"a step takes {tried.step_seconds / max(steps):.2f} times as long"
        return None
    if tried.graphs and not any(each.result.graphs for each in baseline):
        return None
    longest, most = (
        max(getattr(each.result, name) for each in baseline) for name in ("seconds", "cpu_seconds")
    )
    # Both must be longer: a busy machine prolongs the elapsed time, threads that spin the CPU time.
    takes_longer = tried.seconds > _SLOWER * longest + _SLOWER_SECONDS
    if takes_longer and tried.cpu_seconds > _SLOWER * most + _SLOWER_SECONDS:
        return f"the run takes {tried.seconds / longest:.2f} times as long"
    return None


def ending_words(result: RunResult) -> str:
    """How a run ended, in words."""
    return f"exit code {result.exit_code}" if result.signal is None else f"signal {result.signal}"


# Level, month and day, time: TorchLogsFormatter of torch/_logging/_internal.py, and c10/util/Logging.cpp.
_LOG_LINE = re.compile(r"^\[?(?:rank\d{1,6}\]:)?\[?[VDIWEC]\d{4} \d\d:\d\d:\d\d")
_WARNING = re.compile(r":\d{1,9}: \w{0,60}Warning: ")
# Dynamo's own have several lines, and end in their source line, as the warnings module writes it.
_WARNING_OF_DYNAMO = re.compile(r"/torch/_dynamo/[\w/]{1,100}\.py:\d{1,9}: \w{0,60}Warning: ")
_END_OF_CPP = " (Triggered internally at "  # torch/csrc/Exceptions.cpp: a warning of C++ has further lines
_MOST_LINES = 50  # of a warning
_LINE_NUMBER = re.compile(r"(\bline |\.py:)\d{1,9}")


def program_stderr(stderr: str) -> str:
    """The lines of stderr that are not torch's log, warnings or ours, without the numbers of source lines."""
    return "\n".join(_LINE_NUMBER.sub(r"\1…", line) for line in _program_lines(stderr.splitlines()))


def _program_lines(lines: list[str]) -> Iterator[str]:
    last = -1  # of a warning
    for number, line in enumerate(lines):
        if number > last and _WARNING.search(line):
            last = _last_of_warning(lines, number)
        elif number > last and not (_LOG_LINE.match(line) or line.startswith("dynamo: ")):
            yield line


def _last_of_warning(lines: list[str], first: int) -> int:
    """The number of the last line of a warning, which shows its source line below it."""
    if _WARNING_OF_DYNAMO.search(lines[first]):
        shown = (
            at
            for at, line in enumerate(lines[first + 1 : first + _MOST_LINES], first + 1)
            if line[:2] == "  "
        )
        return next(shown, first)
    behind = list(takewhile(lambda line: line.startswith(" "), lines[first + 1 : first + _MOST_LINES]))
    own = next((at for at, line in enumerate(behind, 1) if line.startswith(_END_OF_CPP)), 0)
    return first + own + (own < len(behind) and behind[own].startswith("  "))
