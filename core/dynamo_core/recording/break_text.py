"""Read the text in which torch explains a graph break.

Source: torch/_dynamo/symbolic_convert.py (log_graph_break), torch/_dynamo/exc.py
(format_graph_break_message). The text moves from release to release; what is not found stays None. Read
with 2.8, 2.13 and 2.15.
"""

import re
from functools import lru_cache

from ..model import BreakExplanation, Place, StackFrame

_WHERE = re.compile(r"^Graph break in user code at (.+):(\d+)$", re.MULTILINE)
# From 2.10 on, "Encountered graph break when attempting to trace CALL: …" can stand before the kind.
_KIND = re.compile(r"^(?:Graph Break Reason: )?(\S.*)\n {2}Explanation: ", re.MULTILINE)
_REASON = re.compile(r"^Graph Break Reason: (.+)$", re.MULTILINE)
_EXPLANATION = re.compile(r"^ {2}Explanation: ", re.MULTILINE)
_SECOND = re.compile(
    r"\n\*\*\* While handling this graph break, another graph break occurred: \*\*\*\n\s*"
    r"(\S[^\n]*)\n {2}Explanation: ",
    re.MULTILINE,
)
_END_OF_EXPLANATION = re.compile(r"^ {2}(?:Hint: |Developer debug)", re.MULTILINE)
_HINT = re.compile(r"\n {2}Hint: (.+?)(?=\n {2}Hint: |\n[^\S\n]*$)", re.MULTILINE | re.DOTALL)
_STACK = re.compile(r"^User code traceback:\n", re.MULTILINE)
_NOT_OF_A_STACK = re.compile(r"\n(?=\S|[^\S\n]*$)", re.MULTILINE)  # it begins with what is searched for fast
_FRAME_BEGINS = '\n  File "'
_FRAME = re.compile(r'([^"\n]+)", line (\d+), in (.+)(?:\n    (.+))?')
_USUAL_FRAME = 1000  # characters
_LINK = re.compile(r"https://[^\s:]+/gb(\d+)\.html")
LONGEST_TEXT = 1_000_000  # characters of what torch says on one break, or one guard; the rest is not read


def parse_break_text(text: str) -> BreakExplanation | None:
    """The parts of the explanation; None where the text is about a frame skipped as a whole."""
    text = text[:LONGEST_TEXT]
    where, kind = _WHERE.search(text), _KIND.search(text) or _REASON.search(text)
    if where is None or kind is None:
        return None
    explanation, link = _explanation(_EXPLANATION.search(text)), _LINK.search(text)
    return BreakExplanation(
        place=Place(where[1], int(where[2])),
        kind=kind[1].strip().removeprefix("torch._dynamo.exc.Unsupported: "),  # inside of an operator
        explanation=_with_second(explanation, text) if explanation is not None else None,
        hints=tuple(dict.fromkeys(hint.strip() for hint in _HINT.findall(text))),  # the text can say it twice
        registry_id=f"GB{link[1]}" if link else None,
        link=link[0] if link else None,
        stack=parse_user_stack(text),
    )


def _explanation(begin: re.Match[str] | None) -> str | None:
    """What stands between `begin` and torch's hints; None if either is missing."""
    end = _END_OF_EXPLANATION.search(begin.string, begin.end() + 1) if begin else None
    return begin.string[begin.end() : end.start()].strip() if begin and end else None


def _with_second(explanation: str, text: str) -> str:
    """The explanation; where a second break kept the first from being one between graphs, that one's too."""
    second = _SECOND.search(text)
    also_explained = _explanation(second)
    if second is None or also_explained is None:
        return explanation
    also = f"On top of it: {second[1].strip()}. {also_explained}"
    first, blank, rest = explanation.partition("\n\n")
    return f"{first} {also}{blank}{rest}"


def parse_user_stack(text: str) -> tuple[StackFrame, ...]:
    """The user's stack, outermost first; empty where the text has none."""
    text = text[:LONGEST_TEXT]
    begin = _STACK.search(text)
    if begin is None:
        return ()
    end = _NOT_OF_A_STACK.search(text, begin.end() - 1)
    stack = text[begin.end() - 1 : end.start() if end else None]
    frames = [
        _known_frame(each) if len(each) <= _USUAL_FRAME else _frame(each)
        for each in stack.split(_FRAME_BEGINS)[1:]
    ]
    return tuple(frame for frame in frames if frame is not None)


def _frame(text: str) -> StackFrame | None:
    found = _FRAME.match(text)
    if found is None:
        return None
    return StackFrame(Place(found[1], int(found[2])), found[3], (found[4] or "").strip())


_known_frame = lru_cache(1024)(_frame)  # stacks have most of their frames in common
