"""From advice to a remedy: what kind of change it is, and what shows that it worked."""

from collections.abc import Iterable

from ...model import GraphBreak
from ..remedies.advice import Advice, Change
from ..remedies.breaks import break_advice
from .finding import Kind, Remedy, RemedyKind

_SHOWN_BY: dict[Kind, str] = {
    "wrong result": "dynamo run --verify=error",
    "graph break": "dynamo breaks",
    "fell back to eager": "dynamo breaks",
    "compiler error": "dynamo explain",
    "recompile": "dynamo recompiles",
    "recompile limit": "dynamo recompiles",
    "left eager by a limit": "dynamo explain",
    "ranks differ": "dynamo ranks",
    "compiled anew": "dynamo recompiles",
    "costly guards": "dynamo guards",
    "backend declined": "dynamo explain",
    "unstable key": "dynamo cache",
    "cold start": "dynamo cache",
    "caches off": "dynamo cache",
    "cache bypass": "dynamo cache",
}


def remedies(kind: Kind, advice: Iterable[Advice]) -> tuple[Remedy, ...]:
    """The remedies for a finding of this kind, in the order of the advice."""
    shown_by = _SHOWN_BY.get(kind, "dynamo profile")
    return tuple(
        Remedy(_kind_of(each), each.text, shown_by, change=each.change, may_change=each.may_change)
        for each in advice
    )


def break_remedies(
    kind: Kind, graph_break: GraphBreak, torch_version: str | None, lengthened: str | None = None
) -> tuple[Remedy, ...]:
    """The remedies for a finding that is a break, or what a break led to, as `break_advice` has them."""
    return remedies(kind, break_advice(graph_break, torch_version, lengthened))


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
