"""`dynamo fix` as JSON: one declaration for the document and its schema, `schemas/fix.schema.json`."""

from typing import Any, Literal

from dynamo_core.analysis.findings import Finding, Remedy
from dynamo_core.fix.patches import patch_text
from dynamo_core.fix.trial import Fix, Fixes, Ran, Trial, Verdict
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class TrialValue:
    """A remedy that was tried; `patch` is the edit as a unified diff, empty where it is none.

    One that `is_earlier` was tried by an earlier `dynamo fix` of the same program.
    """

    remedy: Remedy
    verdict: Verdict
    reason: str
    before: int
    after: int | None
    runs: tuple[Ran, ...]
    patch: str
    is_earlier: bool


@dataclass(frozen=True)
class FixValue:
    """A finding; `kept` is the place (from 0) of the proven remedy in `trials`, `cured_by` another fix."""

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
    `unseen` are kinds of findings of which the recording cannot say that there were none.
    """

    schema: Literal["dynamo-fix"]
    version: Literal[1]
    program: str
    runs: int
    baseline: tuple[Ran, ...]
    fixes: tuple[FixValue, ...]
    together: TrialValue | None
    stopped: str | None
    steps: int | None
    lines_compared: int
    unseen: tuple[str, ...]


def fix_document(fixes: Fixes) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json_value(
        FixDocument(
            "dynamo-fix",
            1,
            fixes.program,
            len(fixes.runs),
            fixes.baseline,
            tuple(_fix(number, fix) for number, fix in enumerate(fixes.fixes, 1)),
            None if fixes.together is None else _trial(fixes.together),
            fixes.stopped,
            fixes.steps,
            fixes.lines_compared,
            fixes.unseen,
        )
    )
    return document


def _fix(number: int, fix: Fix) -> FixValue:
    kept = None if fix.kept is None else fix.trials.index(fix.kept)
    trials = tuple(map(_trial, fix.trials))
    return FixValue(number, fix.finding, fix.is_proven, kept, fix.cured_by, trials)


def _trial(trial: Trial) -> TrialValue:
    return TrialValue(
        trial.remedy,
        trial.verdict,
        trial.reason,
        trial.before,
        trial.after,
        trial.runs,
        patch_text(trial.patches),
        trial.is_earlier,
    )
