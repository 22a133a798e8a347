"""Run a program with what the user sees of it: notes before, DYNAMO_LOGS during, a summary after."""

import functools
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_core.launch.process import Ending
from dynamo_core.model import Recording
from dynamo_core.shared.errors import Disagreement, DynamoError, GraphBreaksFound, NotMeasured
from dynamo_core.shared.settings import VERIFY_ERROR
from dynamo_core.shared.untrusted import printable

from .progress_line import progress_line

if TYPE_CHECKING:
    from dynamo_core.launch.run import Outcome, Request

# What an audit has to show, its verdict in a sentence, and the exit code of the run.
Audited = tuple[Iterable[Any], str, int | None]

# Gets the recording when it is there; what it returns is called while the program runs.
Follow = Callable[[Path], Callable[[], None]]


def say(line: str) -> None:
    """One line of ours on stderr. A closed stderr is not our problem."""
    try:
        print(printable(" ".join(line.split("\n"))), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def run_program(request: "Request", *, quiet: bool) -> "Outcome":
    """Record `request`; with `quiet`, print nothing at all."""
    from dynamo_core.launch.run import record

    live_output = None if quiet else _live_output()
    with progress_line(quiet=quiet) as progress:
        return record(
            request,
            announce=(lambda line: None) if quiet else (lambda line: say(f"dynamo: {line}")),
            follow=_all_of(live_output, progress),
        )


def _all_of(*follows: Follow | None) -> Follow | None:
    wanted = [follow for follow in follows if follow is not None]

    def follow_all(recording: Path) -> Callable[[], None]:
        watches = [follow(recording) for follow in wanted]

        def watch_all() -> None:
            for watch in watches:
                watch()

        return watch_all

    return follow_all if wanted else None


def _live_output() -> Follow | None:
    """What follows the recording and prints, if DYNAMO_LOGS asks for anything."""
    wanted = os.environ.get("DYNAMO_LOGS", "")
    if not wanted.strip():
        return None
    from dynamo_reporters.topics import UnknownTopic, help_text, parse_topics

    if wanted.strip() == "help":
        click.echo(help_text())
        raise click.exceptions.Exit(0)
    try:
        details = parse_topics(wanted)
    except UnknownTopic as error:
        raise click.UsageError(str(error)) from error

    def follow(recording: Path) -> Callable[[], None]:
        from dynamo_core.recording.read import Follower
        from dynamo_reporters.page.console import show
        from dynamo_reporters.topics import CONTENTS, render_item

        follower = Follower(recording, CONTENTS)

        def print_news() -> None:
            for _, item in follower.new_items():
                show(sys.stderr, render_item(item, details))

        return print_news

    return follow


def summarize_run(outcome: "Outcome", *, is_default_place: bool) -> None:
    """Print the end-of-run summary."""
    from dynamo_core.analysis.findings import CONTENTS
    from dynamo_core.recording import files
    from dynamo_core.recording.read import read
    from dynamo_reporters.explain.end_of_run import render_end_of_run

    try:
        recording = read(outcome.recording, CONTENTS)
    except DynamoError as error:
        say(f"dynamo: {error}")
        return
    is_newest = is_default_place and files.is_surely_newest(outcome.recording)
    for line in render_end_of_run(recording, is_newest):
        say(f"dynamo: {line}")


def audited(outcome: "Outcome", fullgraph: str | None, verify: str | None, *, quiet: bool) -> Ending:
    """How to end, once the verdicts of the audits that were asked for are printed."""
    audits: list[Callable[[Recording, int | None], Audited]] = []
    if fullgraph is not None:
        audits.append(functools.partial(_fullgraph_audited, fullgraph))
    if verify == VERIFY_ERROR:
        audits.append(_verify_audited)
    ending = outcome.ending
    if not audits:
        return ending
    from dynamo_core.analysis.findings import CONTENTS
    from dynamo_core.recording.read import read
    from dynamo_reporters.page.console import show

    recording = read(outcome.recording, CONTENTS)
    for audit in audits:
        blocks, sentence, code = audit(recording, ending.exit_code)
        if not quiet:
            with suppress(OSError, ValueError):  # a full or closed stderr is not the program's fault
                show(sys.stderr, blocks)
            ends = f"; exit code {code}" if code != ending.exit_code else ""
            say(f"dynamo: {sentence}{ends}")
        ending = replace(ending, exit_code=code)
    return ending


def _fullgraph_audited(kind: str, recording: Recording, exit_code: int | None) -> Audited:
    from dynamo_core.analysis.fullgraph_audit import audit, audited_exit_code
    from dynamo_reporters.breaks.audit import audit_blocks, audit_sentence

    found = audit(recording)
    code = audited_exit_code(found, kind, exit_code, GraphBreaksFound.exit_code)
    return audit_blocks(recording), f"--fullgraph: {audit_sentence(found)}", code


def _verify_audited(recording: Recording, exit_code: int | None) -> Audited:
    """What was not compared is not right: a run in which nothing was has an exit code of its own."""
    from dynamo_core.analysis.verification import verification
    from dynamo_core.analysis.verification_sentences import audit_sentence

    found = verification(recording)
    if exit_code == 0 and (found is None or not (found.agreeing or found.wrong)):
        exit_code = NotMeasured.exit_code
    elif exit_code == 0 and found is not None and found.wrong:
        exit_code = Disagreement.exit_code
    return [], f"--verify: {audit_sentence(found)}", exit_code
