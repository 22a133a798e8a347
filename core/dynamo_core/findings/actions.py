"""Actions: a remedy with everything that it cures; and findings that are true of any short run."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..model import Place, function_of
from ..remedies.rules import Assignment, Change, list_of_sources
from ..shared.quick_dataclass import dataclass
from .build import by_cause, ranking
from .finding import Figure, Finding, Remedy, RemedyKind
from .kinds import SPECS
from .tried import order


@dataclass(frozen=True)
class Alternative:
    """Another remedy for findings of an action; `cures` are their identities."""

    remedy: Remedy
    cures: tuple[str, ...]


@dataclass(frozen=True)
class Action:
    """A remedy with all findings that it cures, by their identities, the worst first.

    `number` counts from 1. `remedy` is None where none is known for a finding. `times` says how often each
    kind of finding was met. All of it together saves `saves_at_most`. `tried` is what came of
    the remedy when a frame was traced again with it (`dynamo run --try`); None where it was not tried.
    """

    number: int
    remedy: Remedy | None
    cures: tuple[str, ...]
    times: dict[str, int]
    saves_at_most: Figure
    alternatives: tuple[Alternative, ...]
    tried: str | None


Saved = Callable[[Sequence[Finding]], Figure]
"""What it saves at most to fix several findings at once."""

# What a remedy changes, from little to much; of edits, those that change one line come before the others.
_SIZES: dict[RemedyKind, int] = {"environment": 0, "setting": 0, "argument": 1, "edit": 2, "command": 4}
_MOST_CALLS = 3  # of `compile` that one remedy names
_MOST_SIZE = 5  # where no remedy is known


def actions_of(findings: Sequence[Finding], saved: Saved) -> list[Action]:
    """The actions that these findings ask for, what saves most first; of equals the smaller change first.

    `findings` are ranked. Each of them is in one action; a consequence of another one is in that one's.
    """
    causes = by_cause(_with_the_lines_remedy(findings))
    followers = {cause.identity: following for cause, following in causes}
    groups = [_action(same, followers, saved) for same in _grouped([cause for cause, _ in causes])]
    in_order = ranking([leading for leading, _ in groups])
    groups.sort(key=lambda group: (*in_order(group[0]), *_of_equals(group[1])))
    groups = _with_remedies_first(groups)
    return [replace(action, number=number) for number, (_, action) in enumerate(groups, 1)]


def _with_remedies_first(groups: Sequence[tuple[Finding, Action]]) -> list[tuple[Finding, Action]]:
    """The groups; in a function, what cuts graphs and has no remedy stands behind all that has one."""
    last = {
        _function(finding): at
        for at, (finding, action) in enumerate(groups)
        if action.remedy is not None and _cuts(finding)
    }

    def position(at: int) -> tuple[int, int]:
        finding, action = groups[at]
        has_none = action.remedy is None and _cuts(finding)
        return max(at, last.get(_function(finding), at)) if has_none else at, at if has_none else -1

    return [groups[at] for at in sorted(range(len(groups)), key=position)]


def _function(finding: Finding) -> tuple[str, str]:
    return "" if finding.place is None else finding.place.file, function_of(finding.function)


def _of_equals(action: Action) -> tuple[int, int]:
    """Which of equals comes first: of unknown time what cures more, then the smaller change."""
    cured = 0 if action.saves_at_most.seconds is not None else sum(action.times.values())
    if action.remedy is None:
        return -cured, _MOST_SIZE
    has_many_edits = action.remedy.kind == "edit" and len(action.cures) > 1
    return -cured, _SIZES[action.remedy.kind] + has_many_edits


# Edits that take what is on the line out of the compiled code, and so all that is in the way there.
_MOVES = ("call moved out", "statement moved out")


def _with_the_lines_remedy(findings: Sequence[Finding]) -> list[Finding]:
    """The findings; where several are on one line, and one is to be moved out, all have that remedy."""
    moved: dict[Place | None, Remedy] = {}
    for finding in findings:
        if finding.place is not None and _moves(finding):
            moved.setdefault(finding.place, finding.remedies[0])
    return [
        replace(finding, remedies=(moved[finding.place], *finding.remedies[1:]))
        if finding.place in moved and (_moves(finding) or (_cuts(finding) and not finding.remedies))
        else finding
        for finding in findings
    ]


def _cuts(finding: Finding) -> bool:
    return finding.kind in ("graph break", "fell back to eager")


def _moves(finding: Finding) -> bool:
    change = finding.remedies[0].change if finding.remedies else None
    return _cuts(finding) and change is not None and change.edit in _MOVES


def _grouped(findings: Sequence[Finding]) -> Iterable[list[Finding]]:
    """The findings that one remedy cures: of each finding the remedy that cures most others as well.

    Only what is the first advice for some finding can be an action, and in its place only what changes no
    more. Settings that are all among those of another action are that action's. The other remedies are
    alternatives.
    """
    first = {_key(finding.remedies[0], finding) for finding in findings if finding.remedies}
    choices = [[key for key in _no_larger(finding) if key in first] for finding in findings]
    cured = Counter(key for keys in choices for key in dict.fromkeys(keys))
    chosen: list[tuple[Hashable, Finding]] = []
    same_words: dict[tuple[Change | None, str], Hashable] = {}
    for finding, keys in zip(findings, choices, strict=True):
        # Of remedies that cure as many, the first advice.
        key = max(keys, key=cured.__getitem__, default=finding.identity)
        finding = _with_remedy_first(finding, key)
        for remedy in finding.remedies[:1]:  # a word of its text may be on one of the lines
            key = same_words.setdefault((remedy.change, remedy.text), key)
        chosen.append((key, finding))
    groups: dict[Hashable, list[Finding]] = {}
    for key, finding in _of_most_settings(chosen):
        groups.setdefault(key, []).append(finding)
    return groups.values()


def _of_most_settings(chosen: Sequence[tuple[Hashable, Finding]]) -> Iterable[tuple[Hashable, Finding]]:
    """The findings with their keys; those whose settings are among another's with all of these."""
    remedies = {key: finding.remedies[0] for key, finding in chosen if finding.remedies}
    settings = {key: _settings(remedy) for key, remedy in remedies.items()}
    for key, finding in chosen:
        own = settings.get(key)
        larger = next((each for each in settings if own and own < settings[each]), None)
        if larger is None:
            yield key, finding
        else:
            remedy = replace(remedies[larger], tried=None)  # not for this finding
            yield larger, replace(finding, remedies=(remedy, *finding.remedies[1:]))


def _settings(remedy: Remedy) -> frozenset[Assignment]:
    """The variables and torch's settings that it sets, but for lists of values."""
    if remedy.change is None or _is_joined(remedy):
        return frozenset()
    return frozenset((*remedy.change.environment, *remedy.change.settings))


def _no_larger(finding: Finding) -> list[Hashable]:
    """The keys of its first advice, and of the others that change no more."""
    most = max((_SIZES[each.kind] for each in finding.remedies[:1]), default=0)
    return [_key(each, finding) for each in finding.remedies if _SIZES[each.kind] <= most]


def _with_remedy_first(finding: Finding, key: Hashable) -> Finding:
    remedies = sorted(finding.remedies, key=lambda remedy: _key(remedy, finding) != key)
    return replace(finding, remedies=tuple(remedies))


_QUOTED = re.compile(r"`([^`]*)`")


def _key(remedy: Remedy, finding: Finding) -> Hashable:
    """Equal for remedies that ask for the same change: one setting, or one edit on several lines."""
    if _is_joined(remedy):
        return tuple(each.name for each in _variables(remedy))
    if remedy.change is not None and remedy.change.edit is None:
        return remedy.change
    text = _QUOTED.sub(lambda found: "``" if found[1] in finding.source else found[0], remedy.text)
    return remedy.change, text, finding.is_library


# Environment variables whose values are comma-separated lists: a second value alone would replace the first.
LIST_VARIABLES = (
    "TORCH_COMPILE_DYNAMIC_SOURCES",
    "TORCH_COMPILE_UNBACKED_SOURCES",
    "TORCH_COMPILE_STATIC_SOURCES",
)


def _variables(remedy: Remedy) -> tuple[Assignment, ...]:
    return () if remedy.change is None else remedy.change.environment


def _is_joined(remedy: Remedy) -> bool:
    """Whether it only adds to lists, so that several such remedies can be made at once."""
    variables = _variables(remedy)
    return bool(variables) and all(each.name in LIST_VARIABLES for each in variables)


def _joined(remedies: Sequence[Remedy]) -> Remedy:
    """The remedies of an action as one: the first, or the lists or calls of all of them."""
    first = remedies[0]
    if first.change is not None and first.change.arguments:
        return _of_all_calls([each for each in remedies if each.change == first.change])
    values: dict[str, list[str]] = {}
    for variable in (each for remedy in remedies for each in _variables(remedy)):
        values.setdefault(variable.name, []).extend(variable.value.split(","))
    joined = tuple(Assignment(name, list_of_sources(each)) for name, each in values.items())
    if not _is_joined(first) or joined == _variables(first):
        return first
    typed = " ".join(f'{each.name}="{each.value}"' for each in joined)
    text = f"set `{typed}` in the program's environment."
    return replace(first, text=text, change=Change(environment=joined))


def _of_all_calls(remedies: Sequence[Remedy]) -> Remedy:
    """An argument for the calls of `compile` of all of them; what names no line of one adds none."""
    calls: dict[str, Remedy] = {}
    for each in remedies:
        calls.setdefault(each.in_short.partition(" to ")[2], each)
    named = {call: each for call, each in calls.items() if call != "`torch.compile`"} or calls
    first = next(iter(named.values()))
    if len(named) == 1:
        return first
    passed = first.in_short.partition(" to ")[0]
    each_call = ", and to ".join(named) if len(named) <= _MOST_CALLS else f"{len(named)} calls of `compile`"
    return replace(first, text=f"{passed} to {each_call}.")


def _action(
    same: Sequence[Finding], followers: Mapping[str, Sequence[Finding]], saved: Saved
) -> tuple[Finding, Action]:
    """The action, without its number, and its worst finding with what all of them cost, for the ranking."""
    worst = same[0]
    consequences = [each for finding in same for each in followers[finding.identity]]
    cured = [*same, *consequences]
    paid = [*same, *(each for each in consequences if not _is_in_cost_of_a_break(each, same))]
    figure = worst.cost.saves_at_most if len(paid) == 1 else saved(paid)
    # A value has another name in the frame behind a break, and is named there too.
    named = [each.remedies[0] for each in consequences if each.remedies and _is_joined(each.remedies[0])]
    remedy = _joined([*(each.remedies[0] for each in same), *named]) if worst.remedies else None
    action = Action(
        number=0,
        remedy=remedy,
        cures=tuple(finding.identity for finding in cured),
        times=_times(cured),
        saves_at_most=figure,
        alternatives=_alternatives(same),
        tried=_tried(same),
    )
    return replace(worst, cost=replace(worst.cost, saves_at_most=figure)), action


def _is_in_cost_of_a_break(consequence: Finding, causes: Sequence[Finding]) -> bool:
    """Whether it is counted already: what a break costs includes the recompiles that it brings about."""
    return consequence.kind in ("recompile", "recompile limit") and any(
        each.identity == consequence.because_of and each.kind == "graph break" for each in causes
    )


def _tried(same: Sequence[Finding]) -> str | None:
    """What came of the remedy for all findings: the worst of it."""
    outcomes = [each.remedies[0].tried for each in same if each.remedies]
    return max(outcomes, key=order, default=None)


def _times(same: Sequence[Finding]) -> dict[str, int]:
    """How often each kind was met; kinds that are not counted by their occurrences, once a finding."""
    times: Counter[str] = Counter()
    for finding in same:
        times[finding.kind] += finding.evidence.times if SPECS[finding.kind].counts_times else 1
    return dict(times)


def _alternatives(same: Sequence[Finding]) -> tuple[Alternative, ...]:
    """The other remedies, those that cure most first."""
    found: dict[Hashable, tuple[Remedy, list[str]]] = {}
    for finding in same:
        for remedy in finding.remedies[1:]:
            found.setdefault(_key(remedy, finding), (remedy, []))[1].append(finding.identity)
    in_order = sorted(found.values(), key=lambda each: -len(each[1]))
    return tuple(Alternative(remedy, tuple(cures)) for remedy, cures in in_order)


# What is true of any short run, and no reason to change the program.


_LONG_S = 600.0  # a run that took as long is long enough to say what most of it went to
_MOST = 0.5  # of the run


def is_context(finding: Finding, run_seconds: float | None) -> bool:
    """Whether it is true of any short run; `run_seconds` is what the run took, None where that is unknown.

    What is most of a long run is a reason to act. What costs nothing and has no remedy is right as it is.
    """
    seconds = finding.cost.saves_at_most.seconds
    if seconds == 0.0 and not finding.remedies:
        return True
    if not SPECS[finding.kind].is_context:
        return False
    return run_seconds is None or run_seconds < _LONG_S or (seconds or 0.0) < _MOST * run_seconds
