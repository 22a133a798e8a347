"""Read the text in which torch explains a graph break.

Source: torch/_dynamo/symbolic_convert.py (log_graph_break), torch/_dynamo/exc.py
(format_graph_break_message). The text moves from release to release; what is not found stays None. Read
with 2.8, 2.13 and 2.15.
"""

import re

from ..model import BreakExplanation, Place

_WHERE = re.compile(r"^Graph break in user code at (.+):(\d+)$", re.MULTILINE)
# From 2.10 on, "Encountered graph break when attempting to trace CALL: …" can stand before the kind.
_KIND = re.compile(r"^(?:Graph Break Reason: )?(\S.*)\n {2}Explanation: ", re.MULTILINE)
_REASON = re.compile(r"^Graph Break Reason: (.+)$", re.MULTILINE)
_EXPLANATION = re.compile(r"^ {2}Explanation: (.+?)(?=^ {2}Hint: |^ {2}Developer debug)", re.M | re.S)
_HINT = re.compile(r"^ {2}Hint: (.+?)(?=^ {2}Hint: |^\s*$)", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"/gb(\d+)\.html")


def parse_break_text(text: str) -> BreakExplanation | None:
    """The parts of the explanation; None where the text is about a frame skipped as a whole."""
    where, kind = _WHERE.search(text), _KIND.search(text) or _REASON.search(text)
    if where is None or kind is None:
        return None
    explanation, registry_id = _EXPLANATION.search(text), _ID.search(text)
    return BreakExplanation(
        place=Place(where[1], int(where[2])),
        kind=kind[1].strip(),
        explanation=explanation[1].strip() if explanation else None,
        hints=tuple(hint.strip() for hint in _HINT.findall(text)),
        registry_id=f"GB{registry_id[1]}" if registry_id else None,
    )
