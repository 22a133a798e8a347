"""What a finding is called in every run of the program, and which findings are the same one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePath
from typing import TypeVar

from ...model import function_of
from .draft import Draft
from .finding import Cost, Evidence, Figure, Finding

_Said = TypeVar("_Said")


def as_findings(drafts: Sequence[Draft]) -> list[Finding]:
    """Drafts of one cause, in several processes or frames, are one finding, where the first of them is."""
    return [_merged(identity, same) for identity, same in by_identity(drafts).items()]


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


def _merged(identity: str, same: list[Draft]) -> Finding:
    first = same[0]
    merged = replace(
        first,
        cause=_worked_out(first.cause),
        cost=Cost(*(_sum([getattr(draft.cost, name) for draft in same]) for name in vars(first.cost))),
        evidence=Evidence(
            tuple(dict.fromkeys(each for draft in same for each in draft.evidence.compile_ids)),
            tuple(dict.fromkeys(each for draft in same for each in draft.evidence.graphs)),
            tuple(dict.fromkeys(each for draft in same for each in draft.evidence.records)),
            sum(draft.evidence.times for draft in same),
            tuple(dict.fromkeys(each for draft in same for each in draft.evidence.tests)),
        ),
        remedies=tuple(dict.fromkeys(remedy for draft in same for remedy in _worked_out(draft.remedies))),
    )
    processes = dict.fromkeys(process.stream.name for draft in same for process in draft.processes)
    fields = {name: value for name, value in vars(merged).items() if name not in ("key", "processes")}
    return Finding(identity=identity, is_library=first.is_library, processes=tuple(processes), **fields)


def _worked_out(said: _Said | Callable[[], _Said]) -> _Said:
    return said() if callable(said) else said


def _sum(figures: list[Figure]) -> Figure:
    """Known if one of them is; as well as the least well known of those."""
    known = [figure for figure in figures if figure.seconds is not None]
    if not known:
        return figures[0]
    least = max(known, key=lambda figure: ("measured", "sampled", "estimated").index(figure.known))
    return Figure(sum(figure.seconds or 0.0 for figure in known), least.known)
