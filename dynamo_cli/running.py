"""Run a program with what the user sees of it: notes before, DYNAMO_LOGS during, a summary after."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from dynamo_core.errors import DynamoError, GraphBreaksFound
from dynamo_core.launch.process import Ending
from dynamo_core.launch.run import Outcome, Request, record


def say(line: str) -> None:
    """One line of ours on stderr. A closed stderr is not our problem."""
    try:
        print(" ".join(line.split("\n")), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def run_program(request: Request, *, quiet: bool) -> Outcome:
    """Record `request`; with `quiet`, print nothing at all."""
    follow = None if quiet else _live_output()
    return record(
        request,
        announce=(lambda line: None) if quiet else (lambda line: say(f"dynamo: {line}")),
        follow=follow,
    )


def _live_output() -> Callable[[Path], Callable[[], None]] | None:
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


def summarize_run(outcome: Outcome, *, is_default_place: bool) -> None:
    """Print the end-of-run summary."""
    from dynamo_core.recording.read import read
    from dynamo_reporters.explain.end_of_run import render_end_of_run

    try:
        recording = read(outcome.recording)
    except DynamoError as error:
        say(f"dynamo: {error}")
        return
    for line in render_end_of_run(recording, is_default_place):
        say(f"dynamo: {line}")


def audited(outcome: Outcome, fullgraph: str | None, *, quiet: bool) -> Ending:
    """How to end, once the verdict of --fullgraph is printed; as the program did where none was asked for."""
    if fullgraph is None:
        return outcome.ending
    from dynamo_core.fullgraph_audit import audit, audited_exit_code
    from dynamo_core.recording.read import read
    from dynamo_reporters.breaks.audit import audit_blocks, audit_sentence
    from dynamo_reporters.page.console import show

    recording = read(outcome.recording)
    found = audit(recording)
    code = audited_exit_code(found, fullgraph, outcome.ending.exit_code, GraphBreaksFound.exit_code)
    if not quiet:
        show(sys.stderr, audit_blocks(recording))
        ends = f"; exit code {code}" if code != outcome.ending.exit_code else ""
        say(f"dynamo: --fullgraph: {audit_sentence(found)}{ends}")
    return replace(outcome.ending, exit_code=code)
