"""What several drafts of one cause say together: one finding, whose words and figures agree."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TypeVar

from ..analysis.recompile_echoes import CompileKey
from ..analysis.time.wall import across_ranks
from ..analysis.words import number, place, seconds
from ..model import GraphBreak, Place, Process, Recording, function_of
from ..remedies.break_rules import break_advice
from ..remedies.rules import Advice, Change, user_line
from ..remedies.this_run import in_its_thread, not_in_use
from .finding import Cost, Draft, Evidence, Figure, Finding, Known, Remedy, RemedyKind
from .kinds import SPECS, Kind
from .tried import further_cures, is_withdrawn, order, outcome_of, outcomes

_Value = TypeVar("_Value")
_CONSEQUENCES = (
    "recompile",
    "recompile limit",
    "fell back to eager",
)  # kinds of which one may follow from another finding
_DYNAMIC_NUMBER = "SymNodeVariable("  # torch's class, in its words on the break
_HOW_KNOWN: tuple[Known, ...] = ("measured", "sampled", "estimated")


def merged(identity: str, same: Sequence[Draft]) -> Finding:
    """One finding of all drafts of a cause. It speaks of the one that is worst, of the user's own if any is.

    What it costs is what they all cost the run, and its title says how many there are.
    """
    worst = min(same, key=_how_bad)
    processes = tuple({process.stream: process for draft in same for process in draft.processes}.values())
    cost = _cost(same)
    evidence = Evidence(
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.compile_ids)),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.graphs)),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.records)),
        sum(draft.evidence.times for draft in same),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.tests)),
        _sum_of_known(draft.evidence.ran for draft in same),
    )
    are_ranks = all(process.rank is not None for process in processes)
    words = ("rank", "ranks") if are_ranks else ("process", "processes")
    others = len(same) - 1
    more = seconds(cost.lost.seconds) if _is_more(cost.lost, worst.cost.lost) else ""
    title, effect = worst.title, worst.effect
    if SPECS[worst.kind].is_counted:
        several = f", in {number(len(processes), *words)}" if len(processes) > 1 else ""
        if evidence.times > 1:
            title += f" ({number(evidence.times, 'time')}{several})"
        if others and effect and more:
            effect += f"; with {number(others, 'other')} like it {more}"
    elif others:
        elsewhere = len(processes) - len(worst.processes)
        alike = f"likewise in {number(elsewhere, f'other {words[0]}', f'other {words[1]}')}"
        title += f" ({alike if elsewhere else f'and {others} more like it'}{more and f', {more} in all'})"
    return Finding(
        kind=worst.kind,
        identity=identity,
        title=title,
        cause=_worked_out(worst.cause),
        effect=effect,
        place=worst.place,
        function=worst.function,
        source=worst.source,
        via=worst.via,
        is_library=worst.is_library,
        cost=cost,
        evidence=evidence,
        remedies=in_its_thread(
            worst.processes,
            evidence.compile_ids,
            _tried(
                worst,
                evidence,
                _each_once(each for draft in (worst, *same) for each in _worked_out(draft.remedies)),
            ),
        ),
        processes=tuple(process.stream.name for process in processes),
        key=worst.key,
    )


def _sum_of_known(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _how_bad(draft: Draft) -> tuple[bool, float, float]:
    cost = draft.cost
    return draft.is_library, -(cost.saves_at_most.seconds or 0.0), -(cost.lost.seconds or 0.0)


def _is_more(all_of_it: Figure, of_one: Figure) -> bool:
    """Whether it is another figure as they are shown."""
    return all_of_it.seconds is not None and seconds(all_of_it.seconds) != seconds(of_one.seconds)


def _each_once(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Two that change the same are one, though each names the values that it has seen."""
    found: dict[object, Remedy] = {}
    for remedy in remedies:
        found.setdefault(remedy.text if remedy.change is None else remedy.change, remedy)
    return tuple(found.values())


def _tried(worst: Draft, evidence: Evidence, known: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
    """The remedies with what came of each that was tried, and others that cure; what cures comes first."""
    changes = [each for process in worst.processes for each in process.interventions.tried_changes]
    found = outcomes(worst.kind, worst.place, evidence.compile_ids, changes) if changes else {}
    if not found:
        return known
    further = remedies(worst.kind, further_cures([each.change for each in known], found))
    tried = [replace(each, tried=outcome_of(each.change, found)) for each in (*known, *further)]
    left = [each for each in tried if not is_withdrawn(each.tried)]
    return tuple(sorted(left, key=lambda each: order(each.tried)))


def _worked_out(value: _Value | Callable[[], _Value]) -> _Value:
    return value() if callable(value) else value


def _cost(same: Sequence[Draft]) -> Cost:
    """What they cost the run together; of a step, which is one process's, what it costs the worst of them."""
    return Cost(
        lost=_together([(each, each.cost.lost, 0.0, _lost(each)) for each in same]),
        per_step=max((draft.cost.per_step for draft in same), key=lambda figure: figure.seconds or 0.0),
        saves_at_most=saved_together(same),
    )


def saved_together(drafts: Sequence[Draft]) -> Figure:
    """What it saves at most to fix all of these, at least one; what several share counts once."""
    return _together([(each, each.cost.saves_at_most, each.shared_seconds, _saved(each)) for each in drafts])


_Parts = list[tuple[frozenset[Hashable], float]]


def _lost(draft: Draft) -> _Parts:
    return [(each.of, each.lost) for each in draft.shares]


def _saved(draft: Draft) -> _Parts:
    return [(each.of, each.saved) for each in draft.shares]


def _together(figures: Sequence[tuple[Draft, Figure, float, _Parts]]) -> Figure:
    """Known if one of them is; as well as the least well known of those.

    Beside each is what of its seconds all other drafts of the process have in theirs, and what some have.
    """
    known: list[Known] = []
    spent: list[tuple[Process, float]] = []
    shared: dict[Path, tuple[Process, float]] = {}
    parts: list[tuple[Process, frozenset[Hashable], float]] = []
    for draft, figure, common, of_some in figures:
        if figure.seconds is not None:
            process = draft.processes[0]
            known.append(figure.known)
            spent.append((process, figure.seconds - common - sum(each for _, each in of_some)))
            parts += [(process, of, each) for of, each in of_some]
            _, most = shared.get(process.stream, (process, 0.0))
            shared[process.stream] = process, max(common, most)
    if not known:
        return figures[0][1]
    counted: set[Hashable] = set()
    for process, of, seconds_of in sorted(parts, key=lambda each: -each[2]):
        if not of & counted:
            counted |= of
            spent.append((process, seconds_of))
    return Figure(across_ranks([*spent, *shared.values()]), max(known, key=_HOW_KNOWN.index))


# What a finding is called in every run of the program, and which findings are the same one.


def of_identities(found: Mapping[str, Sequence[Draft]]) -> list[Finding]:
    """A finding for each identity and its drafts, with the finding that it follows from."""
    reasons = _reasons(found)
    return [
        replace(merged(identity, same), because_of=reasons.get(identity)) for identity, same in found.items()
    ]


def _reasons(found: Mapping[str, Sequence[Draft]]) -> dict[str, str]:
    """By identity, the finding that it follows from: all of its recompiles are brought about by that one."""
    brought: dict[CompileKey, str] = {}
    for identity, same in found.items():
        brought |= dict.fromkeys(
            (each for draft in same for each in draft.brings_about if each not in brought), identity
        )
    called = {each: identity for identity, same in found.items() for draft in same for each in draft.calls}
    reasons: dict[str, str] = {}
    for identity, same in found.items() if brought else ():
        is_called = all(called.keys() >= draft.compiles for draft in same)
        if same[0].kind in _CONSEQUENCES or is_called or all(map(_is_of_a_dynamic_number, same)):
            by = called if is_called else brought
            causes = {by.get(each) for draft in same for each in draft.compiles}
            if len(causes) == 1 and (cause := causes.pop()) not in (None, identity):
                reasons[identity] = cause
    return reasons


def _is_of_a_dynamic_number(draft: Draft) -> bool:
    """Whether it is a break on a number that is no constant, as it is after a recompile for its value."""
    records = draft.evidence.records
    return draft.kind == "graph break" and bool(records) and all(_DYNAMIC_NUMBER in each for each in records)


def by_identity(drafts: Sequence[Draft]) -> dict[str, list[Draft]]:
    """The drafts that each finding is made of."""
    by_key: dict[tuple[str, ...], list[Draft]] = {}
    for draft in drafts:
        by_key.setdefault(_key(draft), []).append(draft)
    found: dict[str, list[Draft]] = {}
    for key, same in by_key.items():
        # Two lines that read alike in one function: the first is told from the second by their order.
        lines = {line: order for order, line in enumerate(sorted({_line(draft) for draft in same}))}
        for draft in same:
            found.setdefault(_name(draft.kind, key, lines[_line(draft)]), []).append(draft)
    return found


def _key(draft: Draft) -> tuple[str, ...]:
    # The file by its name alone: a program that was copied elsewhere has the same findings.
    file = "" if draft.place is None else PurePath(draft.place.file).name
    # What goes on behind a break is named by its line; it is the same function.
    return draft.kind, file, function_of(draft.function), " ".join(draft.source.split()), *draft.key


def _line(draft: Draft) -> tuple[str, int]:
    return ("", 0) if draft.place is None else (draft.place.file, draft.place.line)


def _name(kind: str, key: tuple[str, ...], order: int) -> str:
    digest = sha256("\0".join([*key, str(order)]).encode("utf-8", "replace")).hexdigest()
    return f"{kind.replace(' ', '-')}-{digest[:12]}"


# Which finding comes first, on every surface: by what fixing it can save, then by how that is known.


_CERTAINTY: tuple[Known, ...] = ("measured", "sampled", "estimated", "not recorded")
_WRONG = [kind for kind, spec in SPECS.items() if spec.rank == "wrong"]
# Where no time was recorded: what keeps whole frames out of graphs, then what cuts graphs, then the rest.
_UNTIMED = [kind for kind, spec in SPECS.items() if spec.rank in ("keeps out", "untimed")]
# What names no line is mostly what others lead to: it comes before them only where it is worth so much more.
_WITHOUT_A_LINE = 10
_UNKNOWN = -1.0  # less than any time


def without_remedies_in_use(findings: Iterable[Finding], recording: Recording) -> list[Finding]:
    """The findings without remedies that the run had already."""
    return [replace(each, remedies=not_in_use(each.remedies, recording)) for each in findings]


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first. Equal ones stay in the order in which they were found.

    What was compiled again but once is paid for, and comes behind breaks that each further call meets.
    """
    found = list(findings)
    in_order = by_cause(sorted(found, key=ranking(found)))
    return [each for cause, followers in in_order for each in (cause, *followers)]


def ranking(findings: Sequence[Finding]) -> Callable[[Finding], tuple[float, ...]]:
    """The key by which these findings are sorted, the worst first."""
    without_a_line = (
        _worth(each) for each in findings if each.place is None and not SPECS[each.kind].of_the_run
    )
    most = max(without_a_line, default=_UNKNOWN)
    worth = {id(each): _worth_among(each, most) for each in findings}
    _share_the_worth_of_a_line(findings, worth)
    least = min((worth[id(each)] for each in findings if _is_met_by_each_call(each)), default=float("inf"))

    def rank(finding: Finding) -> tuple[float, ...]:
        is_behind = _happened_once(finding) and worth[id(finding)] >= least
        return _rank(finding, least if is_behind else worth[id(finding)], is_behind)

    return rank


def _share_the_worth_of_a_line(findings: Sequence[Finding], worth: dict[int, float]) -> None:
    """Breaks on one line are each worth the dearest of them: else a clock says which of them comes first."""
    on_a_line: dict[Place | None, list[Finding]] = {}
    for each in findings:
        is_timed = each.cost.saves_at_most.seconds is not None
        if each.kind == "graph break" and each.place is not None and is_timed:
            on_a_line.setdefault(each.place, []).append(each)
    for same in on_a_line.values():
        worth |= dict.fromkeys(map(id, same), max(worth[id(each)] for each in same))


def by_cause(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Each finding that follows from none of the others, with all that follow from it, in their order.

    What follows from a consequence stands right behind it.
    """
    known = {each.identity for each in findings}
    followers: dict[str | None, list[Finding]] = {}
    for each in findings:
        followers.setdefault(each.because_of if each.because_of in known else None, []).append(each)

    def below(identity: str) -> Iterator[Finding]:
        for each in followers.get(identity, ()):
            yield each
            yield from below(each.identity)

    return [(cause, list(below(cause.identity))) for cause in followers.get(None, ())]


def _is_met_by_each_call(finding: Finding) -> bool:
    """Whether it is a break that ran more than once; where that is unknown, that was met more than once.

    A function that runs eager does so in each call.
    """
    if finding.kind == "fell back to eager":
        return not finding.is_library and finding.place is not None
    ran = finding.evidence.times if finding.evidence.ran is None else finding.evidence.ran
    return finding.kind == "graph break" and not finding.is_library and ran > 1


def _happened_once(finding: Finding) -> bool:
    return finding.kind == "recompile" and finding.evidence.times <= len(finding.processes)


def _worth_among(finding: Finding, most_without_a_line: float) -> float:
    is_untimed = finding.cost.saves_at_most.seconds is None
    if finding.kind == "graph break" and is_untimed and not finding.is_library:
        # Time outside of graphs, say, or tiny graphs: what a break leads to, and the break says more.
        return max(most_without_a_line, finding.cost.lost.seconds or _UNKNOWN)
    return _worth(finding)


def _rank(finding: Finding, worth: float, is_behind: bool) -> tuple[float, ...]:
    """What findings are sorted by; one that `is_behind` comes after what is worth as much."""
    figure, kind = finding.cost.saves_at_most, finding.kind
    is_of_the_run = SPECS[kind].of_the_run
    is_an_option_worth_its_time = SPECS[kind].is_cured_by_option and figure.seconds is not None
    is_librarys = finding.is_library and not is_an_option_worth_its_time
    return (
        _place_in(_WRONG, kind),
        # A library's line is seldom the user's to change. What is of any short run, and of no line, comes
        # behind it.
        is_librarys or ((is_of_the_run or SPECS[kind].is_context) and finding.place is None),
        is_of_the_run,
        # What is right as it is.
        figure.seconds == 0.0 and not finding.remedies,
        -worth,
        is_behind,
        figure.seconds is not None,
        _CERTAINTY.index(figure.known),
        _place_in(_UNTIMED, kind),
    )


def _place_in(kinds: Sequence[Kind], kind: Kind) -> int:
    """The others come behind these."""
    return kinds.index(kind) if kind in kinds else len(kinds)


def _worth(finding: Finding) -> float:
    seconds = finding.cost.saves_at_most.seconds
    if seconds is None:
        return float("inf") if SPECS[finding.kind].rank == "keeps out" else _UNKNOWN
    return seconds if finding.place is not None else seconds / _WITHOUT_A_LINE


# From advice to a remedy: what kind of change it is, and what shows that it worked.


def remedies(kind: Kind, advice: Iterable[Advice]) -> tuple[Remedy, ...]:
    """The remedies for a finding of this kind, in the order of the advice."""
    shown_by = SPECS[kind].shown_by
    return tuple(
        Remedy(_kind_of(each), each.text, shown_by, change=each.change, may_change=each.may_change)
        for each in advice
    )


WHOSE_ERROR = (
    "`dynamo run --verify` says whether plain Python raises it, too, and whether an earlier call gave "
    "something else; if only compiled code raises, `dynamo repro` makes a small program that fails alone."
)


# An operator's own error, which plain Python most often raises as well. Source: torch/_dynamo/exc.py.
_OF_THE_PROGRAM = re.compile(r"TorchRuntimeError|fake tensors|Observed exception")
_LEFT_OUT = (
    "put `@torch.compiler.disable` above `def {}`: it then runs as plain Python, and the graph breaks at its "
    "call. Where plain Python raises the error as well, that does not help."
)


def break_remedies(
    kind: Kind, graph_break: GraphBreak, torch_version: str | None, lengthened: str | None = None
) -> tuple[Remedy, ...]:
    """The remedies for a finding that is a break, or what a break led to, as `break_advice` has them."""
    advice = break_advice(graph_break, torch_version, lengthened)
    if advice or kind != "compiler error":
        return remedies(kind, advice)
    own, _ = user_line(graph_break)
    if own not in graph_break.stack:  # the caller of what was compiled
        own = None
    is_torchs = own is not None and _OF_THE_PROGRAM.search(graph_break.reason) is None
    left_out = [Advice(_LEFT_OUT.format(function_of(own.function)))] if own and is_torchs else []
    return remedies(kind, [*left_out, Advice(WHOSE_ERROR)])


def remedy(kind: Kind, text: str | None) -> tuple[Remedy, ...]:
    """The remedy that a sentence alone makes; none where there is no advice."""
    return remedies(kind, [Advice(text)]) if text else ()


def _kind_of(advice: Advice) -> RemedyKind:
    if advice.change is not None:
        return _kind_of_change(advice.change)
    return _kind_of_text(advice.text)


def _kind_of_change(change: Change) -> RemedyKind:
    if change.environment:
        return "environment"
    if change.settings:
        return "setting"
    if change.arguments:
        return "argument"
    return "command" if change.options else "edit"


def _kind_of_text(text: str) -> RemedyKind:
    """By the first thing in it that is to be typed."""
    typed = text.partition("`")[2].partition("`")[0]
    if typed.startswith("TORCH"):
        return "environment"
    if ".config." in typed:
        return "setting"
    if typed.startswith("torch.compile(") and "=" in typed:
        return "argument"
    return "command" if typed.startswith("dynamo ") else "edit"


# What the other line of a finding is, in the same words on every surface.


def via_line(finding: Finding) -> str:
    """Where it is in a library that the user's line calls, or whose call brought it about; "" without one."""
    if finding.via is None:
        return ""
    what = "called from" if SPECS[finding.kind].is_caused_by_call else "in the library at"
    return f"{what} {place(finding.via.place)}: {finding.via.text}".removesuffix(": ")
