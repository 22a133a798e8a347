"""What to do about recompiles: the first rows of a table that apply, the surest first.

Each row was tried with torch 2.13 on the programs that it names (tests/integration/test_first_advice.py).
"""

from ..recompile_causes import RecompileCause
from .advice import Advice
from .recompile_edits import EDITS, OF_WRAPPED_MODULES
from .recompile_row import RecompileRemedy
from .recompile_settings import SETTINGS

REMEDIES: tuple[RecompileRemedy, ...] = (OF_WRAPPED_MODULES, *SETTINGS, *EDITS)
_MOST = 3


def recompile_advice(cause: RecompileCause) -> list[Advice]:
    """What to do about a cause, the surest first; nothing where the versions are rightly apart."""
    if cause.is_rightly_apart:
        return []
    rows = [row for row in REMEDIES if row.is_for(cause)]
    first = [row for row in rows if not row.besides][:1]
    further = [row for row in rows if row.besides]
    return [row.advice(cause) for row in (*first, *further)][:_MOST]
