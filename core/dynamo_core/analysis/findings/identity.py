"""What a finding is called in every run of the program, and which findings are the same one."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePath

from ...model import function_of
from .draft import Draft
from .finding import Finding
from .merging import merged


def as_findings(drafts: Sequence[Draft]) -> list[Finding]:
    """Drafts of one cause, in several processes or frames, are one finding."""
    return [merged(identity, same) for identity, same in by_identity(drafts).items()]


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
