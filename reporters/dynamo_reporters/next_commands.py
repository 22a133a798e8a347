"""What to ask next: commands, with what each shows and whether it runs the program."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynamo_core.case import Case
from dynamo_core.model import Recording
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.shown_paths import path_below

from .page.blocks import Bullets

if TYPE_CHECKING:
    from dynamo_core.fix.trial import Fixes
    from dynamo_core.repro.result import Repro


@dataclass(frozen=True)
class NextCommand:
    """A command to go on with."""

    command: str
    shows: str
    runs_program: bool


def has_bug_of_compiler(case: Case) -> bool:
    """Whether something was found that `dynamo repro` makes a small file of."""
    kinds = ("wrong result", "compiler error", "error with compiled code")
    return any(each.kind in kinds for each in case.findings)


def next_commands(case: Case, report: str) -> list[NextCommand]:
    """At most three, of which the first is worth most; none where nothing is left to do."""
    path = shlex.quote(path_below(case.recording.address))
    if report != "explain":
        return [what_to_do_first(case.recording)]
    run = case.recording.run
    program = shlex.join(run.command) if run is not None and run.command else None
    action = next((each for each in case.actions if each.remedy is not None), None)
    found = []
    if action is not None and action.remedy is not None:
        found += _about_action(action.remedy.check.removeprefix("dynamo "), path, program)
    if has_bug_of_compiler(case):
        found.append(NextCommand(f"dynamo-cli repro -y {path}", "a small file that fails alone", True))
    elif found and program is not None:
        fix = NextCommand(f"dynamo-cli fix -y -- {program}", "remedies that are proven by runs", True)
        found.append(fix)
    if not case.actions:
        return found
    return [*found[:2], NextCommand(f"dynamo-cli profile {path}", "where the wall time went", False)]


def what_to_do_first(recording: Recording) -> NextCommand:
    """`dynamo explain` of it."""
    path = shlex.quote(path_below(recording.address))
    return NextCommand(f"dynamo-cli explain {path}", "what to do first, and what it saves", False)


def to_apply(fixes: "Fixes") -> list[NextCommand]:
    """`dynamo fix --apply all`, where there are proven edits."""
    edits = NextCommand("dynamo-cli fix --apply all", "the proven edits, made in the program's files", False)
    return [edits] if fixes.patches else []


def to_run_alone(found: "Repro", file: str) -> list[NextCommand]:
    """The file that `dynamo repro` wrote, where it is proven."""
    alone = NextCommand(f"python {shlex.quote(file)}", "the failure, with nothing of the program's", True)
    return [alone] if found.is_proven else []


def _about_action(check: str, path: str, program: str | None) -> list[NextCommand]:
    """The command that shows what an action is to cure, of what was recorded or by a new run."""
    if check.startswith("run "):
        shows = "whether it is cured, once that is done"
        return [] if program is None else [NextCommand(f"dynamo-cli {check} -- {program}", shows, True)]
    shown = "explain --all" if check == "explain" else check
    return [NextCommand(f"dynamo-cli {shown} {path}", "what the first action is to cure", False)]


def next_block(commands: Sequence[NextCommand]) -> Bullets:
    """The commands as the last lines of a page."""
    return Bullets([f"next: `{each.command}`: {each.shows}; {_cost(each)}" for each in commands], "dim")


def _cost(command: NextCommand) -> str:
    if " --apply " in command.command:
        return "edits files"
    return "runs the program" if command.runs_program else "only reads"
