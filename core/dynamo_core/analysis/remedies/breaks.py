"""What to do about a graph break, or about a frame that Dynamo gave up: the first remedies of the tables that fit.

Where none does, torch's own hint is all there is.
"""

from collections.abc import Sequence

from ...model import GraphBreak
from . import asked_for, calls, python_code, torch_code, values
from .advice import Advice
from .situation import Situation, situation_of
from .treatment import Treatment

# The first that fits comes first; so what is about one thing stands before what is about many.
TABLE: tuple[Treatment, ...] = (
    *asked_for.BY_LIBRARY,
    *asked_for.TABLE,
    *values.TABLE,
    *torch_code.TABLE,
    *python_code.TABLE,
    *calls.TABLE,
    *asked_for.BY_LIBRARY_OTHERWISE,
)
_MOST = 2


def break_advice(graph_break: GraphBreak, torch_version: str | None = None) -> list[Advice]:
    """What to do about a break, the surest first."""
    situation = situation_of(graph_break, torch_version)
    advice = [each.advice(situation) for each in _fitting(situation)]
    return list(dict.fromkeys(advice))[:_MOST] or _hint(graph_break)


def break_cause(graph_break: GraphBreak, torch_version: str | None = None) -> str:
    """Why it breaks there, in a sentence: the tables', or else torch's explanation, or what it calls the break."""
    situation = situation_of(graph_break, torch_version)
    causes = (each.cause_of(situation) for each in _fitting(situation))
    explanation = graph_break.explanation.explanation if graph_break.explanation else None
    own_words = " ".join((explanation or graph_break.kind).partition("\n\n")[0].split())
    return next(filter(None, causes), own_words)


def _fitting(situation: Situation) -> Sequence[Treatment]:
    return [treatment for treatment in TABLE if treatment.fits(situation)]


def _hint(graph_break: GraphBreak) -> list[Advice]:
    hints = graph_break.explanation.hints if graph_break.explanation else ()
    return [Advice(" ".join(hint.split())) for hint in hints[:1]]
