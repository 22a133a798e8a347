"""What to do about recompiles: the first rows of a table that apply, the surest first.

Each row was tried with torch 2.13 on the programs that it names (tests/integration/test_first_advice.py).
"""

from dataclasses import replace

from ..recompile_causes import RecompileCause
from .advice import Advice
from .recompile_edits import EDITS
from .recompile_row import RecompileRemedy
from .recompile_settings import SETTINGS

REMEDIES: tuple[RecompileRemedy, ...] = (*SETTINGS, *EDITS)
_MOST = 3


def recompile_advice(cause: RecompileCause) -> list[Advice]:
    """What to do about a cause, the surest first; nothing where the versions are rightly apart."""
    if cause.is_rightly_apart:
        return []
    rows = [row for row in REMEDIES if row.is_for(cause)]
    first = [row for row in rows if not row.besides][:1]
    further = [row for row in rows if row.besides]
    found = [row.advice(cause) for row in (*first, *further)][:_MOST]
    return [*found[:1], *(replace(advice, text=f"or {advice.text}") for advice in found[1:])]
