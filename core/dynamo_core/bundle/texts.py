"""Texts of a recording with placeholders for what is the user's.

Known text stays: words and sentences of torch, Python and ours, punctuation, short numbers, types and shapes
of tensors. Everything else is replaced.
"""

import keyword
import re
from collections.abc import Iterator
from functools import partial

from .placeholders import Placeholders, is_of_torch, known_sentences

_ANY_NUMBER = "N"  # in a line of source, where a digit would look like the original
_INSIDE = r"(?P<inside>(?:\\.|(?!(?P=quote))[^\\]){0,1000}?)"
_STRING = rf"""(?:\b[rbfuRBFU]{{1,2}})?(?P<quote>\'\'\'|\"\"\"|\'|\"){_INSIDE}(?P=quote)"""
# A type, a shape and strides, as readable graphs spell them: `f32[8, s77][s77, 1]cpu`, `Sym(s77)`.
_SIZES = r"\[(?:[\d\s,*+()/-]|[suz]f?(?=\d)|FloorDiv|Max|Min|Mod)*\]"
# Versions of software, which a developer needs first: `torch 2.13.0+cpu`, `Python 3.11.7`, `torch>=2.8`.
_VERSION = (
    r"\b(?:[Tt]orch|[Pp]y[Tt]orch|[Pp]ython|CUDA|cuda|cuDNN|[Tt]riton|[Nn]um[Pp]y)"
    r"(?:\ v?|\ version\ |[=<>!~]=)"
    r"\d{1,3}(?:\.\d{1,3}){1,2}(?:(?:a|b|rc|\.dev|\.post)\d{1,8})?(?:\+(?:cpu|cu\d{1,4}|rocm\d[\d.]{0,4}"
    r"|git[0-9a-f]{7,40}))?(?![\w.+]*\w)"
)
_TOKENS = re.compile(
    rf"""
      (?P<version> {_VERSION} )
    | (?P<address> \b(?:https?|ftp|s3|gs|file|ssh|git)://[^\s'"<>]+ )
    | (?P<path> (?<![\w.)\]])(?:~|\.\.?|[A-Za-z]:)?(?:/[\w.@+~%=-]+)+/?
        | (?<![\w/.-])[\w.-]+(?:/[\w.@+~-]+)+\.(?:py|so|cpp|h|log|json|txt|yaml|pt)\b )
    | (?P<script> (?<![\w./-])[\w-]+\.(?:py|ipynb)\b )
    | (?P<module> (?<=\bmodule:\ )\w+(?:\.\w+)* )
    | (?P<measured> \bGuard\ latency\ =\ \d[\d.]*\ us\b )
    | (?P<made> <(?:frozen[ ][\w.]+|string|stdin|eval_with_key)>(?:\.\d+)? )
    | (?P<tensor> \b[fibcu]f?\d{{1,3}}{_SIZES}(?:{_SIZES})?(?:cpu|cuda:\d+|cuda|mps|xpu|meta)?\b )
    | (?P<time> \b\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[+\d]*\b )
    | (?P<string> (?<![\w)\]]){_STRING} )
    | (?P<number> \b0[xX][0-9a-fA-F]+\b | (?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w|\.\w) )
    | (?P<word> \w+ )
    | (?P<other> [^\x00-\x7f] )
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKENS_OF_SOURCE = re.compile(
    rf"(?P<comment>\#.*)|(?P<string>{_STRING})|(?P<rest_of_string>['\"].*)|(?P<number>\b\d[\w.]*)|(?P<word>\w+)"
    r"|(?P<other>[^\x00-\x7f])"
)
_PUBLIC_ADDRESS = re.compile(
    r"https://(?:(?:docs\.)?pytorch\.org|meta-pytorch\.github\.io|github\.com/pytorch)(?:/[\w.#-]*)*"
)
_NAME = re.compile(r"[^\W\d]\w+")
_DOTTED = re.compile(r"\w+(?:\.\w+)+")
_STACK_LINE = re.compile(r'(\s*)File "(.+)", line (\d+), in (.+)', re.DOTALL)
_GRAPH_LINE = re.compile(
    r"(\s*# File: )((?:(?!:\d{1,9} in ).)+)(:\d{1,9} in )((?:(?!, code: ).)*)(, code: )(.*)"
)
_PLACE = re.compile(r"(\(?)((?:(?!:\d{1,9} in ).)+)(:\d{1,9} in )(\S+)(.*)", re.DOTALL)
_WHERE = re.compile(r"(Graph break in user code at )(.+)(:\d+)")
_UNDERLINE = re.compile(r"\s*[\^~][\^~ ]*")
_LONGEST = 200_000  # characters of a line; torch writes no longer ones, and searching them would take long


class Texts:
    """Replaces texts with one set of placeholders, so that a name has the same one in every record."""

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._done: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A text of torch's or ours, which may contain something of the user's."""
        if text not in self._done:
            self._done[text] = "\n".join(self._lines(text.split("\n")))
        return self._done[text]

    def _lines(self, lines: list[str]) -> Iterator[str]:
        """The lines with placeholders. Those that are indented deeper than a place of a stack are source."""
        depth: int | None = None
        is_torchs = False
        for line in lines:
            stack = _STACK_LINE.fullmatch(line)
            if stack:
                depth, is_torchs = len(stack[1]), is_of_torch(stack[2])
                path = self._placeholders.path(stack[2])
                yield f'{stack[1]}File "{path}", line {stack[3]}, in {self._placeholders.name(stack[4])}'
            elif depth is not None and len(line) - len(line.lstrip()) > depth:
                if not _UNDERLINE.fullmatch(line):
                    yield line if is_torchs else self.source(line)
            else:
                depth = None
                yield self._line(line)

    def _line(self, line: str) -> str:
        if len(line) > _LONGEST:
            return self._placeholders.text(line)
        if found := _GRAPH_LINE.fullmatch(line):
            before, path, at, name, code, source = found.groups()
            where = f"{self._placeholders.path(path)}{at}{self._placeholders.name(name)}"
            shown = source if is_of_torch(path) else self.source(source)
            return f"{self._tokens(before)}{where}{code}{shown}"
        if found := _WHERE.fullmatch(line):
            return f"{found[1]}{self._placeholders.path(found[2])}{found[3]}"
        if "  # " in line:
            return self._with_remarks(line)
        return self._sentences(line)

    def _with_remarks(self, line: str) -> str:
        """A guard: its check, then the user's line and its place, both optional."""
        check, *remarks = line.split("  # ")
        return "  # ".join([self._sentences(check), *map(self._remark, remarks)])

    def _remark(self, remark: str) -> str:
        place = _PLACE.fullmatch(remark)
        if place is None:
            return self.source(remark)
        bracket, path, at, name, rest = place.groups()
        where = f"{bracket}{self._placeholders.path(path)}{at}{self._placeholders.name(name)}"
        return where + self._sentences(rest)

    def _sentences(self, line: str) -> str:
        """A line in which known sentences stay; between them each token is replaced by itself."""
        parts: list[str] = []
        begin = 0
        for at, sentence in known_sentences(line):
            parts += [self._tokens(line[begin:at]), sentence]
            begin = at + len(sentence)
        return "".join([*parts, self._tokens(line[begin:])])

    def _tokens(self, text: str) -> str:
        return _TOKENS.sub(self._token, text)

    def _token(self, found: re.Match[str]) -> str:
        text, kind = found[0], found.lastgroup
        if found["string"] is not None:
            return self._string(found)
        if kind == "word":
            return self._placeholders.word(text)
        if kind == "module":
            return self._placeholders.module(text)
        if kind in ("path", "script"):
            return self._placeholders.path(text)
        if kind == "number":
            return self._placeholders.number(text)
        if kind == "address":
            return text if _PUBLIC_ADDRESS.fullmatch(text) else self._placeholders.text(text)
        return "?" if kind == "other" else text  # a version, a tensor, a time, what torch measured

    def _string(self, found: re.Match[str]) -> str:
        """A quoted text: one word (a key, a device, a type) is replaced as a word, several as a whole."""
        inside = found["inside"]
        is_plain = len(_NAME.findall(_TOKENS.sub(_without_tensors, inside))) <= 1 and "\n" not in inside
        is_path = (path := _TOKENS.fullmatch(inside)) is not None and path["path"] is not None
        is_dotted = _DOTTED.fullmatch(inside) is not None
        shown = self._tokens(inside) if is_plain or is_path or is_dotted else self._placeholders.text(inside)
        return found[0].replace(inside, shown) if inside else found[0]

    def source(self, line: str) -> str:
        """A line of source with its names, texts and numbers replaced, and without its comment.

        Names of Python and torch stay, as they show why the line breaks a graph. A line that would stay as
        the user wrote it is replaced as a whole.
        """
        shown = _TOKENS_OF_SOURCE.sub(partial(_source_token, self._placeholders), line).rstrip()
        is_unchanged = shown.strip() == line.strip() and not _has_keywords_only(shown)
        indent = line[: len(line) - len(line.lstrip())]
        return indent + self._placeholders.text(line.strip()) if is_unchanged else shown

    def argument(self, text: str) -> str:
        """An argument of a command line; a text of several words is replaced as a whole."""
        return self._placeholders.text(text) if any(map(str.isspace, text)) else self.text(text)

    def module(self, dotted: str) -> str:
        """The name of a module, replaced unless it is public."""
        return self._placeholders.module(dotted)

    def path(self, path: str) -> str:
        """A path with placeholders, whatever characters are in it."""
        return self._placeholders.path(path)

    def whole(self, text: str) -> str:
        """A text that is replaced as a whole, except for values of switches."""
        return text if text in ("", "0", "1") else self._placeholders.text(text)


def _without_tensors(found: re.Match[str]) -> str:
    return "" if found["tensor"] is not None else found[0]


def _has_keywords_only(line: str) -> bool:
    return all(keyword.iskeyword(word) for word in re.findall(r"\w+", line))


def _source_token(placeholders: Placeholders, found: re.Match[str]) -> str:
    kind = found.lastgroup
    if found["comment"] is not None:
        return ""
    if found["string"] is not None or found["rest_of_string"] is not None:
        return f"'{placeholders.text(found[0])}'"
    if kind == "word":
        return placeholders.word(found[0])
    return _ANY_NUMBER if kind == "number" else "?"
