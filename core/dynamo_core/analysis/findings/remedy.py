"""From a sentence of advice to a remedy: what kind of change it is, and what shows that it worked."""

from .finding import Kind, Remedy, RemedyKind

_SHOWN_BY: dict[Kind, str] = {
    "wrong result": "dynamo run --verify=error",
    "graph break": "dynamo breaks",
    "fell back to eager": "dynamo breaks",
    "compiler error": "dynamo explain",
    "recompile": "dynamo recompiles",
    "recompile limit": "dynamo recompiles",
    "compiled anew": "dynamo recompiles",
    "costly guards": "dynamo guards",
    "backend declined": "dynamo explain",
}


def remedy(kind: Kind, text: str | None) -> tuple[Remedy, ...]:
    """The remedy for a finding of this kind, as a tuple of one; of none where there is no advice."""
    if not text:
        return ()
    return (Remedy(_kind_of(text), text, _SHOWN_BY.get(kind, "dynamo profile")),)


def _kind_of(text: str) -> RemedyKind:
    """By the first thing in it that is to be typed."""
    typed = text.partition("`")[2].partition("`")[0]
    if typed.startswith("TORCH"):
        return "environment"
    if ".config." in typed:
        return "setting"
    if typed.startswith("torch.compile(") and "=" in typed:
        return "argument"
    return "command" if typed.startswith("dynamo ") else "edit"
