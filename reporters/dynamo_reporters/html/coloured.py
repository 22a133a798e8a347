"""Python source in colours, a line at a time: what is a keyword, a text, a number, a comment, a name."""

from collections.abc import Sequence

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

from .element import Child, cut, h

_CLASSES = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "m"),
    (Name.Function, "d"),
    (Name.Class, "d"),
    (Name.Decorator, "d"),
)
_LONGEST = 2_000  # characters of a line; one that is longer was not written by a person


def coloured(lines: Sequence[str]) -> list[list[Child]]:
    """Lines that follow on one another, each as its parts."""
    texts = [cut(line, _LONGEST) for line in lines]
    # A line of a recording is one line, whatever it holds.
    text = "\n".join(" ".join(each.splitlines()) for each in texts)
    parts: list[list[Child]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        class_ = _class_of(kind)
        for at, piece in enumerate(value.split("\n")):
            if at:
                parts.append([])
            if piece:
                parts[-1].append(h("span", piece, class_=class_) if class_ else piece)
    return parts[: len(texts)] + [[] for _ in range(len(texts) - len(parts))]


def _class_of(kind: "Token") -> str | None:
    return next((class_ for token, class_ in _CLASSES if kind in token), None)
