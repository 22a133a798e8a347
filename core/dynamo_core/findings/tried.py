"""What came of changes that `dynamo run --try` has tried on a frame, as remedies of findings say it."""

from collections.abc import Iterable, Iterator, Sequence

from ..analysis.words import number
from ..model import Place, TracedAgain, TriedChange
from ..remedies.calls import LATER
from ..remedies.rules import Advice, Assignment, Change
from ..remedies.this_run import SETTINGS_OF_VARIABLES
from ..shared.change_tried import RAISED
from .kinds import Kind

GONE, STILL_THERE = "gone", "still there"
_RAISES, _MOVES, _LESS = "raises ", "moves to line ", "less is compiled"
_TELLING = 2  # recompiles in a trial, of a finding that has as many
_LEAST_OPS = 0.9  # of those without the change: a break is also gone where its frame runs eager
_TRACED = "traced again with it, the frame has this no more"
_BREAKS: tuple[Kind, ...] = ("graph break", "fell back to eager")
_RECOMPILES: tuple[Kind, ...] = ("recompile", "recompile limit")


def outcomes(
    kind: Kind, place: Place | None, compile_ids: Sequence[str], tried: Iterable[TriedChange]
) -> dict[str, str]:
    """By each change that was tried for a finding: "gone", "still there", or what else came of it.

    A finding that was tried several times has the worst of what came of it. Of a recompile those trials count
    that had most calls: torch makes a size or a number dynamic at its second value, so that with two calls
    there are as many graphs with such a change as without.
    """
    tried = list(tried)
    if kind in _RECOMPILES:
        tried = [each for each in tried if str(each.compile_id) in compile_ids and each.before.why is None]
        most = max((each.before.recompiled for each in tried), default=0)
        if most < min(len(set(compile_ids)), _TELLING):
            return {}
        tried = [each for each in tried if each.before.recompiled == most]
    found: dict[str, str] = {}
    for each in tried:
        outcome = _outcome(kind, place, compile_ids, each)
        if outcome is not None:
            for change in each.changes:
                if found.get(change, GONE) == GONE:
                    found[change] = outcome
    return found


def outcome_of(change: Change | None, found: dict[str, str]) -> str | None:
    """What came of a remedy's change; None where it was not tried."""
    if change is None or change.edit is not None:
        return None
    known = {found.get(text) for text in _as_tried(change)}
    return known.pop() if len(known) == 1 else None


def further_cures(changes: Iterable[Change | None], found: dict[str, str]) -> Iterator[Advice]:
    """Advice to make each change by which a finding is gone, and which none of `changes` makes."""
    known = {text for change in changes if change is not None for text in _as_tried(change)}
    for text, outcome in found.items():
        if outcome != GONE or text in known or text.startswith(LATER):
            continue  # what is put off is lost in functions that are called: only a rule knows where it fits
        name, _, value = text.partition("=")
        if "." not in name:
            yield Advice(
                f"`torch.compile(..., {text})`: {_TRACED}.",
                Change(arguments=(Assignment(name, value),)),
            )
        elif name in SETTINGS_OF_VARIABLES.values():
            variable = next(each for each, of in SETTINGS_OF_VARIABLES.items() if of == name)
            assignment = Assignment(variable, "1" if value == "True" else value)
            yield Advice(
                f'set `{variable}="{assignment.value}"` in the program\'s environment: {_TRACED}.',
                Change(environment=(assignment,)),
            )
        else:
            sign = ".add({})" if name.endswith("+") else " = {}"
            typed = f"{name.removesuffix('+')}{sign.format(value)}"
            yield Advice(
                f"set `{typed}` before the first call: {_TRACED}.",
                Change(settings=(Assignment(name, value),)),
            )


def is_withdrawn(outcome: str | None) -> bool:
    """Whether the program's own call raised an error with the change, and did not without it."""
    return outcome is not None and outcome.startswith(_RAISES)


def order(outcome: str | None) -> int:
    """The place of a remedy among others: what cures, what was not tried, what only moves or does nothing."""
    is_no_cure = outcome in (STILL_THERE, _LESS) or (outcome or "").startswith(_MOVES)
    return 0 if outcome == GONE else 2 if is_no_cure else 1


def _as_tried(change: Change) -> list[str]:
    variables = [
        f"{SETTINGS_OF_VARIABLES.get(each.name)}={'True' if each.value == '1' else each.value}"
        for each in change.environment
    ]
    options = ["dynamic=True" for option in change.options if option == "--dynamic"]
    return [*variables, *map(str, change.settings), *map(str, change.arguments), *options]


def _outcome(kind: Kind, place: Place | None, compile_ids: Sequence[str], tried: TriedChange) -> str | None:
    """What came of one change; None where it was not tried for this finding."""
    before, after = tried.before, tried.after
    if kind in _RECOMPILES:
        if not before.recompiled:
            return None
        # More graphs are for something else as well; after fewer the change may still come to its own.
        is_all_of_it = before.recompiled == len(set(compile_ids))
        return _unknown(after) or _fewer(before.recompiled, after.recompiled, is_all_of_it)
    if kind not in _BREAKS or place is None:
        return None
    was, now = (_times(place, each) for each in (before, after))
    if was:
        return _unknown(after) or (_moved(before, after) if not now else STILL_THERE)
    if kind == "fell back to eager" and str(tried.compile_id) in compile_ids and before.left_eager:
        return _unknown(after) or (GONE if not after.left_eager else STILL_THERE)
    return None


def _unknown(after: TracedAgain) -> str | None:
    if after.why is not None and after.why.startswith(RAISED):
        return f"{_RAISES}{after.why.removeprefix(RAISED)}"
    return None if after.why is None else f"not known: {after.why}"


def _fewer(before: int, after: int, is_all_of_it: bool) -> str | None:
    if after >= before:
        return STILL_THERE if is_all_of_it else None
    return f"{before} → {number(after, 'further graph')}" if after else GONE


def _times(place: Place, traced: TracedAgain) -> int:
    return sum(place in stack for stack in traced.breaks)


def _moved(before: TracedAgain, after: TracedAgain) -> str:
    if after.left_eager > before.left_eager or after.ops < _LEAST_OPS * before.ops:
        return _LESS
    known = {line for stack in before.breaks for line in stack}
    new = [stack[-1] for stack in after.breaks if stack and stack[-1] not in known]
    return f"{_MOVES}{new[0].line}" if new else GONE
