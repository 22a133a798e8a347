"""`dynamo fix`: the page."""

import shlex
from collections.abc import Iterator
from dataclasses import field

from dynamo_core.analysis.words import number, place, seconds
from dynamo_core.findings import Finding
from dynamo_core.fix.applying import changed_lines, patch_text
from dynamo_core.fix.changes import can_be_tried, environment_of
from dynamo_core.fix.trial import Fix, Fixes, RunResult, Trial
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.shown_paths import shown_path

from .next_commands import to_apply
from .page.blocks import Block, Bullets, Code, Heading, Paragraph
from .report import Report


def report() -> Report[Fixes]:
    """The report of `dynamo fix`."""
    return Report("fix", fix_blocks, fix_document, then=to_apply)


def fix_blocks(fixes: Fixes) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(_verdict(fixes), 1)
    yield Paragraph(_what_was_done(fixes))
    if fixes.stopped is not None:
        yield Paragraph(f"Not everything was tried: {fixes.stopped}.", "warning")
    if fixes.by_hand and not fixes.fixes:
        yield Paragraph(
            "`dynamo explain` advises what is to be done by hand, as no run of the program shows whether it "
            "has helped:"
        )
        yield Bullets(list(fixes.by_hand))
    if fixes.fixes and not fixes.lines_compared:
        yield Paragraph(
            "The program prints nothing, or something else each time: only its ending could be compared, not "
            "its results. A seed for its random numbers may help.",
            "warning",
        )
    numbers = [fix.number for fix in fixes.fixes]
    if len({*numbers}) < len(numbers):
        yield Paragraph(
            "A number is that of an action of `dynamo explain`: findings that one action cures share it.",
            "dim",
        )
    for at, fix in enumerate(fixes.fixes):
        yield from _fix_blocks(fix, fixes, is_further=fix.number in numbers[:at])
    yield from _together(fixes)


def _verdict(fixes: Fixes) -> str:
    if not fixes.fixes and fixes.unseen:
        return f"Nothing was found to fix, but this could not be recorded: {', '.join(fixes.unseen)}"
    if not fixes.fixes:
        return "Nothing to fix: no graph breaks, recompiles or frames that run eager were found"
    proven = sum(fix.is_proven for fix in fixes.fixes)
    have = f"{proven} of {number(len(fixes.fixes), 'finding')} {'has' if proven == 1 else 'have'}"
    if fixes.is_refuted and proven:
        return f"{have} a fix that is proven by itself, but not together with the others"
    return f"{have} a proven fix"


def _what_was_done(fixes: Fixes) -> str:
    took = sum(ran.seconds for ran in fixes.runs)
    earlier = sum(trial.is_earlier for fix in fixes.fixes for trial in fix.trials)
    known = f" {number(earlier, 'trial')} of an earlier `dynamo fix` counted." if earlier else ""
    ended = "" if fixes.steps is None else f" Each run was ended after {number(fixes.steps, 'step')}."
    return f"{fixes.program} ran {number(len(fixes.runs), 'time')}, {seconds(took)} in all.{ended}{known}"


def _fix_blocks(fix: Fix, fixes: Fixes, *, is_further: bool) -> Iterator[Block]:
    """What came of it; one that `is_further` is cured by the action of a finding before it."""
    yield Heading(f"{fix.number}{', also:' if is_further else '.'} {_title(fix)}", 3)
    yield Paragraph(fix.finding.title)
    if fix.kept is not None:
        yield Paragraph(f"→ {fix.kept.remedy.text}", "advice")
        if fix.kept.remedy.may_change:
            yield Paragraph(f"It may change: {fix.kept.remedy.may_change}")
        if fix.kept.verdict == "cures" and fix.kept.reason:
            yield Paragraph(f"With it {fix.kept.reason}.")
        yield from _how(fix.number, fix.kept, fixes)
        faster = _speed(fix.kept, fixes)
        if faster:
            yield Paragraph(faster)
        yield from _others(fix, fix.kept)
    if fix.is_proven:
        return
    yield Bullets([_tried(trial) for trial in fix.trials])
    for remedy in fix.finding.remedies[:1]:
        is_by_hand = remedy.change is None or not can_be_tried(remedy.change)
        if is_by_hand or _is_left(fix):
            what = "To be done by hand" if is_by_hand else "What was to be tried"
            yield Paragraph(f"{what}: {remedy.text}", "advice")


def _title(fix: Fix) -> str:
    where = place(fix.finding.place) if fix.finding.place is not None else fix.finding.kind
    if fix.cured_by is not None:
        return f"{where}: cured by fix {fix.cured_by.number}"
    if fix.kept is not None:
        times = f"{fix.kept.before} before, {fix.kept.after} after"
        return f"{where}: {fix.finding.kind}, {times}, proven"
    tried = [each for each in fix.trials if each.verdict != "does not fit"]
    if tried:
        return f"{where}: {number(len(tried), 'remedy', 'remedies')} tried, none cures it"
    if fix.trials:
        return f"{where}: no remedy that fits could be tried"
    return f"{where}: {'not tried' if _is_left(fix) else 'no remedy that a program can try'}"


def _is_left(fix: Fix) -> bool:
    """Whether there are remedies that a program can try, and the search ended before."""
    changes = [remedy.change for remedy in fix.finding.remedies]
    return not fix.trials and any(change is not None and can_be_tried(change) for change in changes)


def _how(number: int, kept: Trial, fixes: Fixes) -> Iterator[Block]:
    """What to type: the edit, or without one the setting; a variable that several set has all values."""
    change = kept.remedy.change
    assert change is not None
    kept_changes = [fix.kept.remedy.change for fix in fixes.fixes if fix.kept is not None]
    joined = environment_of([each for each in kept_changes if each is not None], {})
    set_by_hand = [
        f"export {each.name}={_quoted(joined[each.name])}"
        + ("" if joined[each.name] == each.value else "  # one variable for all the fixes that set it")
        for each in change.environment
    ]
    set_by_hand += [f"dynamo run --config {shlex.quote(str(each))}" for each in change.settings]
    set_by_hand += [f"dynamo run --override {shlex.quote(str(each))}" for each in change.arguments]
    set_by_hand += [f"dynamo run {option}" for option in change.options]
    if set_by_hand:
        yield Code("\n".join(set_by_hand), "sh")
    for patch in kept.patches:
        yield Paragraph(f"{shown_path(patch.file)}, or `dynamo fix --apply {number}`:")
        yield Code("\n".join(changed_lines(patch)), "diff")


def _quoted(value: str) -> str:
    """For a shell; names of sources have single quotes, which double ones need no escape for."""
    is_plain = not any(mark in value for mark in '"$`\\!')
    return f'"{value}"' if is_plain else shlex.quote(value)


def _speed(kept: Trial, fixes: Fixes) -> str:
    """How the run with it compares, by its steps; nothing where others were in the run, or for no steps."""
    if kept.is_shared:
        return ""
    without = [ran.step_seconds for ran in fixes.baseline if ran.step_seconds is not None]
    with_it = [ran.step_seconds for ran in kept.runs if ran.step_seconds is not None]
    if not without or not with_it:
        return ""
    fastest, slowest, now = min(without), max(without), with_it[0]
    if fastest <= now <= slowest:
        return f"A step takes as long as before ({seconds(now)})."
    nearest = fastest if now < fastest else slowest
    without_it = f"{seconds(fastest)} to {seconds(slowest)}"
    return f"A step takes {seconds(now)}; without it {without_it} ({nearest / now:.2f} times as fast)."


def _others(fix: Fix, kept: Trial) -> Iterator[Block]:
    others = [_tried(trial) for trial in fix.trials if trial is not kept]
    yield Bullets(others, "dim")


def _tried(trial: Trial) -> str:
    reason = f": {trial.reason}" if trial.reason else ""
    return f"{trial.remedy.in_short.removesuffix('.')} — {trial.verdict}{reason}"


def _together(fixes: Fixes) -> Iterator[Block]:
    together = fixes.together
    if together is None:
        return
    yield Heading("All of it together")
    if together.verdict in ("cures", "helps"):
        met = f"what was found is met {together.after} times in place of {together.before}"
        left = met if together.after else "nothing is left"
        yield Paragraph(
            f"One run with all that is kept, each graph's first calls beside eager: {left}, "
            f"{'the same output, ' if fixes.lines_compared else ''}{together.reason or 'the same ending'}, "
            "and no graph disagrees with eager."
        )
        is_shared = any(fix.kept is not None and fix.kept.is_shared for fix in fixes.fixes)
        faster = _speed(together, fixes) if is_shared else ""
        if faster:
            yield Paragraph(faster)
    else:
        why = f": {together.reason}" if together.reason else ""
        yield Paragraph(f"The run with all that is kept {together.verdict}{why}.", "warning")
    if fixes.patches:
        yield Paragraph("The same command with `--patch FILE` writes them as one patch.", "dim")


@dataclass(frozen=True)
class TrialValue:
    """A remedy that was tried; `patch` is the edit as a unified diff, empty where it is none.

    One that `is_earlier` was tried by an earlier `dynamo fix` of the same program; one that `is_shared`, in a
    run with other remedies.
    """

    trial: Trial = field(metadata=INLINE)
    patch: str


@dataclass(frozen=True)
class FixValue:
    """A finding, with the `number` of the action of `dynamo explain` that cures it.

    `kept` is the place (from 0) of the proven remedy in `trials`; `cured_by` the number of the action whose
    remedy was shown to cure it as well.
    """

    number: int
    finding: Finding
    is_proven: bool
    kept: int | None
    cured_by: int | None
    trials: tuple[TrialValue, ...]


@dataclass(frozen=True)
class FixDocument:
    """What `dynamo fix` has tried, run by run. `together` is the run with all that is kept, beside eager.

    `lines_compared` of what the program prints are compared; where it is 0, only its ending is.
    `unseen` are kinds of findings of which the recording cannot say that there were none. `by_hand` is what
    `dynamo explain` advises for what is no finding of the compiler's; no run shows a cure of that.
    """

    program: str
    runs: int
    baseline: tuple[RunResult, ...]
    fixes: tuple[FixValue, ...]
    together: TrialValue | None
    stopped: str | None
    steps: int | None
    lines_compared: int
    unseen: tuple[str, ...]
    by_hand: tuple[str, ...]


def fix_document(fixes: Fixes) -> FixDocument:
    """The document."""
    return from_fields(
        FixDocument,
        fixes,
        runs=len(fixes.runs),
        fixes=tuple(map(_fix, fixes.fixes)),
        together=None if fixes.together is None else _trial(fixes.together),
    )


def _fix(fix: Fix) -> FixValue:
    kept = None if fix.kept is None else fix.trials.index(fix.kept)
    cured_by = None if fix.cured_by is None else fix.cured_by.number
    trials = tuple(map(_trial, fix.trials))
    return from_fields(FixValue, fix, kept=kept, cured_by=cured_by, trials=trials)


def _trial(trial: Trial) -> TrialValue:
    return TrialValue(trial, patch_text(trial.patches))
