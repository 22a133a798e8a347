"""`dynamo check`."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dynamo_core.analysis.words import number, place
from dynamo_core.case import Case
from dynamo_core.compare.lock import Bounds, Checked, Difference, bounds_of_project, check, merge_bounds
from dynamo_core.compare.lock_file import (
    COUNTS,
    DEFAULT_FILE,
    Facts,
    facts_and_findings,
    facts_of_runs,
    read_lock,
    write_lock,
)
from dynamo_core.findings import CONTENTS, Finding
from dynamo_core.findings.kinds import spec_of
from dynamo_core.launch.process import Ending, end_like
from dynamo_core.launch.program import NOTEBOOK, Program
from dynamo_core.model import Recording
from dynamo_core.recording.read import read
from dynamo_core.shared.errors import (
    Disagreement,
    GotWorse,
    LockFileProblem,
    NotAsLocked,
    NothingToCompare,
    NotMeasured,
)
from dynamo_core.shared.masking import masked_arguments
from dynamo_core.shared.settings import VERIFY_AUDITS
from dynamo_core.shared.text import printable

from .options import RUN_OPTIONS, documented_option, file_option, run_options
from .program import BUDGET, program_of
from .report_command import ReportCommand, is_to_be_run, target_recording
from .report_output import FORMATS, Output, write_report, writes_report
from .running import say, verify_audited

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_NOTES_IT = "where it varies, `--update --runs 3` notes that, more runs more of it"
_KEEPS_IT = f"`dynamo check --update` keeps it so; {_NOTES_IT}"


def _bound_option(name: str) -> _Decorator:
    return documented_option(
        f"--max-{name}",
        type=click.IntRange(min=0),
        metavar="N",
        help=f"At most so many {name.replace('-', ' ')}; whatever is locked.",
    )


@click.command("check", cls=ReportCommand, further=RUN_OPTIONS | {BUDGET})
@documented_option("--update", is_flag=True, help="Accept what is there now: write it to the lock file.")
@file_option("--lock", "lock_file", default=DEFAULT_FILE, text="The lock file.")
@documented_option(
    "--name",
    metavar="NAME",
    help="What the lock file calls the program.  [default: its command line]",
)
@documented_option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Run N times, and say what differs; --update notes that in the lock file.",
)
@documented_option("--exact", is_flag=True, help="Fail, too, where it is better than what is locked.")
@_bound_option("graphs")
@_bound_option("graph-breaks")
@_bound_option("recompiles")
@_bound_option("frames-run-eager")
@documented_option(
    "--allow",
    multiple=True,
    metavar="IDENTITY",
    help="A finding that may be there, by its identity; repeat for more.",
)
@writes_report(
    (*FORMATS, "github", "sarif", "junit"),
    "A page, the same as markdown, a versioned JSON document, GitHub's annotations, SARIF 2.1.0 or JUnit XML",
    endings={".sarif": "sarif", ".xml": "junit"},
)
@run_options("--recording")
@click.pass_context
def check_command(
    ctx: click.Context,
    /,
    update: bool,
    lock_file: Path,
    name: str | None,
    runs: int,
    exact: bool,
    allow: tuple[str, ...],
    out: Output,
    **options: Any,
) -> None:
    """Run a program, and fail where torch.compile makes less of it than the lock file says.

    The lock file (dynamo.lock) has, for each program, its graphs, graph breaks, recompiles and frames that
    run eager, and each finding by its identity, which stays the same when lines move. --update writes it;
    commit it and review it like code. Bounds (--max-…, or [tool.dynamo.check] in pyproject.toml) need no lock
    file.

    TARGET is a program in any form of `dynamo run`, a test run too (-m pytest tests), or a recording. What it
    prints goes to stderr.

    With --verify=error it is 117 where a result is wrong, locked or not.

    The exit code is the program's where that fails; 112 where it got worse, 111 where it got better and
    --exact is given, 110 where there is nothing to compare, 109 for a lock file that cannot be read or
    written.

    \b
    Examples:
      dynamo check --update train.py                     accept what is there now
      dynamo check train.py                              fail where it gets worse
      dynamo check --max-graph-breaks 0 -m pytest tests  without a lock file
    """
    most = {each: options.pop(f"max_{each.replace('-', '_')}") for each in COUNTS}
    given = Bounds({each: value for each, value in most.items() if value is not None}, frozenset(allow))
    program = program_of(ctx)
    key = printable(name or _key(program) or "")
    locked = read_lock(lock_file)
    bounds = merge_bounds(bounds_of_project(Path.cwd()).of(key), given if given.most or allow else None)
    recordings, ending = _recordings(ctx, options, runs)
    recording = recordings[0]
    key = key or (recording.run.program if recording.run else None) or recording.path.name
    facts, findings = _facts_and_findings(recordings)
    if update:
        _update(lock_file, locked, key, facts, recordings)
    checked = replace(check(key, facts, facts if update else locked.get(key), bounds), is_accepted=update)
    has_failed = ending is not None and ending != Ending(0, None)
    _write(checked, recording, findings, out, has_failed=has_failed)
    if ending is not None and has_failed:
        end_like(ending)
    if options["verify"] in VERIFY_AUDITS:
        _raise_if_wrong(recording)
    _raise_for(checked, findings, lock_file, locked, recording, exact=exact)


def _recordings(
    ctx: click.Context, options: dict[str, Any], runs: int
) -> tuple[list[Recording], Ending | None]:
    """The recordings to check, of as many runs of a program, and how the last run ended.

    A run that fails is the last one.
    """
    program = program_of(ctx)
    if runs > 1 and (program is None or not is_to_be_run(program) or program.arguments[0] == "-"):
        raise click.UsageError("--runs runs a program that is named; a recording is of one run")
    if runs > 1 and options["output"] is not None:
        raise click.UsageError("--recording names one recording, and --runs makes several: leave one out")
    found: list[Recording] = []
    ending = None
    for ran in range(1, runs + 1):
        if runs > 1:
            say(f"dynamo: run {ran} of {runs}")
        path, ending = target_recording(ctx, options, is_audited=False)
        if program is None:
            say(f"dynamo: no program is named: this checks the newest recording, {path}")
        found.append(read(path, CONTENTS))
        if ending is not None and ending != Ending(0, None):
            break
    return found, ending


def _facts_and_findings(recordings: Sequence[Recording]) -> tuple[Facts, dict[str, Finding]]:
    """The facts of all runs, and their findings by identity, each as the first run with it has it."""
    runs = [facts_and_findings(recording) for recording in recordings]
    for recording, (facts, _) in zip(recordings, runs, strict=True):
        if all(count is None for count in facts.counts.values()):
            raise NothingToCompare(
                f"{recording.path} has nothing to check: no process that imported torch was recorded"
            )
    return facts_of_runs(runs)


def _key(program: Program | None) -> str | None:
    """A program's command line, with paths from the working directory; None for a recording."""
    if program is None or not (program.is_python or program.arguments):
        return None
    first, *rest = masked_arguments(program.arguments)
    if program.is_python and first.endswith((".py", NOTEBOOK)):
        return shlex.join([os.path.relpath(first).replace(os.sep, "/"), *rest])
    is_command = not program.is_python or first.startswith("-")
    return shlex.join([first, *rest]) if is_command else None


def _update(
    lock_file: Path, locked: dict[str, Facts], key: str, facts: Facts, recordings: Sequence[Recording]
) -> None:
    if not all(each.ended_well for each in recordings):
        raise LockFileProblem(
            f"{lock_file} is left as it is: {key} did not end well, or not all was recorded"
        )
    write_lock(lock_file, {**locked, key: facts})
    say(
        f"dynamo: {number(facts.number, 'fact')} of {key} written to {lock_file}: commit it, and "
        "`dynamo check` fails where they get worse"
    )
    if facts.varying:
        say(
            f"dynamo: {number(len(facts.varying), 'fact')} of it noted to differ from run to run: "
            "what follows from them is not compared later"
        )
    if facts.is_empty:
        say(f"dynamo: nothing was compiled by {key}: the tests of a file run with `-m pytest FILE`")


def _write(
    checked: Checked,
    recording: Recording,
    findings: Mapping[str, Finding],
    out: Output,
    *,
    has_failed: bool,
) -> None:
    from dynamo_reporters.check import report
    from dynamo_reporters.check_ci import annotations, junit, sarif
    from dynamo_reporters.documents import json_text

    if out.form == "github":
        out.put(annotations(checked, findings))
        _job_summary(checked, findings)
    elif out.form == "sarif":
        out.put(json_text(sarif(checked, findings), indent=2) + "\n")
    elif out.form == "junit":
        out.put(junit(checked, findings))
    else:
        write_report(report(recording, findings, has_failed), checked, out)


def _job_summary(checked: Checked, findings: Mapping[str, Finding]) -> None:
    """The page, where GitHub asks for one of each job."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    from dynamo_reporters.check import check_blocks
    from dynamo_reporters.page.markdown import to_markdown

    try:
        with open(file, "a", encoding="utf-8") as summary:
            summary.write(to_markdown(check_blocks(checked, findings)) + "\n")
    except OSError as error:
        print(f"dynamo: cannot write the job's summary: {error.strerror}", file=sys.stderr)


def _raise_for(
    checked: Checked,
    findings: Mapping[str, Finding],
    lock_file: Path,
    locked: Mapping[str, Facts],
    recording: Recording,
    *,
    exact: bool,
) -> None:
    if checked.varying and not checked.worse:
        raise NothingToCompare(
            f"{checked.program} differs from run to run: {_located(checked.varying[0], findings)}; "
            "`dynamo check --update --runs N` notes it"
        )
    if not checked.is_locked:
        others = f" (it has {', '.join(sorted(locked))}; --name says which is meant)" if locked else ""
        raise NothingToCompare(
            f"{lock_file} has no {checked.program!r}{others} and no bound is given; `dynamo check --update` "
            "accepts what is there now"
        )
    if checked.worse:
        hint = f"; {_NOTES_IT}" if all(_may_vary(each, findings) for each in checked.worse) else ""
        counted = [each for each in checked.worse if each.identity is not None] or checked.worse
        more = sum(each is not checked.worse[0] for each in counted)
        first = _located(checked.worse[0], findings) + (f", and {more} more" if more else "")
        raise GotWorse(f"{checked.program} got worse: {first}{hint}")
    if recording.run is not None and recording.run.exit_code != 0:
        raise NothingToCompare(
            f"the program of {recording.path} did not end well: what it did not reach may have got worse"
        )
    if checked.unbounded:
        raise NothingToCompare(f"{', '.join(checked.unbounded)} has a bound, and was not recorded")
    if checked.better and exact:
        raise NotAsLocked(f"{checked.program} got better; {_KEEPS_IT}")
    if checked.better:
        say(f"dynamo: {checked.program} got better; {_KEEPS_IT}")


def _may_vary(difference: Difference, findings: Mapping[str, Finding]) -> bool:
    """Whether another run of the same program may well differ so: in counts, or in what is recompiled."""
    finding = findings.get(difference.identity or "")
    if finding is None:
        return difference.is_change_of_count
    return "recompiles" in spec_of(finding.kind).counted_in


def _raise_if_wrong(recording: Recording) -> None:
    _, sentence, exit_code = verify_audited(Case(recording), 0)
    for error in (Disagreement, NotMeasured):
        if exit_code == error.exit_code:
            raise error(sentence)


def _located(difference: Difference, findings: Mapping[str, Finding]) -> str:
    finding = findings.get(difference.identity or "")
    if finding is None or finding.place is None:
        return difference.text
    return f"{difference.text} ({place(finding.place)})"
