"""Text of a recording may be made to be slow to match: no pattern may take more than linear time for any."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import dynamo_core
import dynamo_reporters
from support.cases import one_in

if sys.version_info >= (3, 11):
    from re import _constants as sre  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as sre
    import sre_parse as parser

# Characters of an attack. What grows without bound shows in few, with the third power in some hundred.
_SHORT, _LONG, _LONGEST = (24, 600), 5_000, 40_000
_TOO_LONG = 0.02  # seconds for a short one; linear patterns take less than a thousandth
_SUSPICIOUS = 1e-7  # seconds for each character of a long one; most patterns take less
_GROUPS = 12
_SHORTER = 4  # times as few: what is linear takes as long for a character, what is quadratic a quarter
_MOST_GROWTH = 2  # a bounded repetition grows as well, until the text is many times as long as its bound
# What runs before there is a recording meets no text of a stranger.
_BEFORE = tuple(
    f"dynamo_core.{name}" for name in ("launch", "capture", "backends", "measuring", "inquiry", "checks")
)
_CHARACTERS = "a0 \n\t'\"\\([{|,.#=_/:"
_CANDIDATES = [*"a0", *map(chr, range(32, 127)), "\n", "\t"]
_ENDS = ("", "\x00", "\n\x00")
_WAYS = {
    "match": "match",
    "fullmatch": "fullmatch",
    **dict.fromkeys(("search", "finditer", "findall", "sub", "subn", "split"), "search"),
}


_Sample = list[tuple[str, bool]]  # characters, and whether each is literal in the pattern


def _modules() -> Iterator[ModuleType]:
    for package in (dynamo_core, dynamo_reporters):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.startswith(_BEFORE):
                yield importlib.import_module(found.name)


def _patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _patterns_in(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _patterns_in(vars(value))


@cache
def _found() -> list[tuple[str, re.Pattern[Any], str]]:
    """Every pattern that a module of ours holds or spells out, once for each way in which it is used."""
    found: dict[tuple[re.Pattern[Any], str], str] = {}
    for pattern, way, name in _all_found():
        found.setdefault((pattern, way), name)
    return [(name, pattern, way) for (pattern, way), name in found.items()]


def _all_found() -> Iterator[tuple[re.Pattern[Any], str, str]]:
    for module in _modules():
        source = inspect.getsource(module)
        if "re." not in source and not any(map(_holds_patterns, vars(module).values())):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        used = _ways_used(nodes)
        singles = {name for name, value in vars(module).items() if isinstance(value, re.Pattern)}
        of_others = set().union(*(ways for name, ways in used.items() if name not in singles))
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns_in(value)):
                ways = used.get(name, set()) if name in singles else of_others
                for way in sorted(ways or {"search", "fullmatch"}):
                    yield pattern, way, f"{module.__name__}.{name}-{number}-{way}"
        for line, pattern, way in _spelled_out(nodes, vars(module)):
            yield pattern, way, f"{module.__name__}-{line}-{way}"


def _holds_patterns(value: Any) -> bool:
    return next(_patterns_in(value), None) is not None


def _ways_used(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """How the patterns are used, by the names that they have there: `_NAME.search(…)`."""
    used: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _WAYS:
            used.setdefault(node.value.id, set()).add(_WAYS[node.attr])
    return used


def _spelled_out(
    nodes: Iterable[ast.AST], names: Mapping[str, Any]
) -> Iterator[tuple[int, re.Pattern[str], str]]:
    """The patterns in calls like `re.search("…", text)`, or with the name of a text of the module."""
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=way),
                args=[ast.Constant(value=str(text)), *_],
            ) if way in _WAYS:
                yield node.lineno, re.compile(text), _WAYS[way]
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=way), args=[ast.Name(id=name), *_]
            ) if way in _WAYS and isinstance(names.get(name), str):
                yield node.lineno, re.compile(names[name]), _WAYS[way]


def _samples(parsed: Any) -> Iterator[_Sample]:
    """Texts that fit a pattern, in pieces; one for each way through its alternatives, as far as few are."""
    whole: list[_Sample] = [[]]
    for operation, argument in parsed:
        choices = list(_piece(operation, argument))[:4]
        whole = [before + choice for before in whole for choice in choices][:4]
    yield from whole


def _piece(operation: Any, argument: Any) -> Iterator[_Sample]:
    if operation is sre.LITERAL:
        yield [(chr(argument), True)]
    elif operation is sre.SUBPATTERN:
        yield from _samples(argument[-1])
    elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, _, inner = argument
        for sample in _samples(inner):
            yield sample * max(1, least)
    elif operation is sre.BRANCH:
        for alternative in argument[1]:
            yield from _samples(alternative)
    elif operation in (sre.IN, sre.ANY, sre.NOT_LITERAL):
        single = re.compile(_one(operation, argument), re.DOTALL)
        yield [(next((char for char in _CANDIDATES if single.fullmatch(char)), "a"), False)]
    elif operation in (sre.ASSERT, sre.ASSERT_NOT):
        yield from _samples(argument[1])  # nothing of it is taken, but it may be what takes long
        yield []
    else:
        yield []


def _one(operation: Any, argument: Any) -> str:
    """A pattern for the one character that this operation takes."""
    if operation is sre.ANY:
        return "."
    if operation is sre.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    text, is_negated = "", False
    classes = {"DIGIT": "d", "SPACE": "s", "WORD": "w", "NOT_DIGIT": "D", "NOT_SPACE": "S", "NOT_WORD": "W"}
    for kind, value in argument:
        if kind is sre.NEGATE:
            is_negated = True
        elif kind is sre.LITERAL:
            text += re.escape(chr(value))
        elif kind is sre.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            text += "\\" + classes[str(value).removeprefix("CATEGORY_")]
    return f"[{'^' if is_negated else ''}{text}]"


def _joined(sample: _Sample) -> list[str]:
    """The pieces with literal text in one, so that there are few."""
    joined: list[str] = []
    is_word = False
    for piece, is_literal in sample:
        if is_literal and is_word:
            joined[-1] += piece
        else:
            joined.append(piece)
        is_word = is_literal
    return joined


def _attacks(pattern: re.Pattern[Any]) -> set[tuple[str, str, str]]:
    """Beginnings of what fits, what is to be repeated after it, and an end that may not fit."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    attacks: set[tuple[str, str, str]] = set()
    for sample in map(_joined, _samples(parser.parse(text, pattern.flags & ~re.UNICODE))):
        for at in range(len(sample) + 1):
            head = "".join(sample[:at])
            attacks |= {(head, character, end) for character in _CHARACTERS for end in _ENDS}
            for upto in range(at + 1, len(sample) + 1):
                pumped, rest = "".join(sample[at:upto]), "".join(sample[upto:])
                attacks |= {(head, pumped, end) for end in (*_ENDS, rest)}
                attacks |= {(head, pumped + other, "") for other in "a \n'"}
    return {attack for attack in attacks if attack[1]}


def _seconds(pattern: re.Pattern[Any], way: str, text: str) -> float:
    data: Any = text if isinstance(pattern.pattern, str) else text.encode()
    begun = time.process_time()
    if way == "search":
        for _ in pattern.finditer(data):
            pass
    else:
        getattr(pattern, way)(data)
    return time.process_time() - begun


def _for_a_character(pattern: re.Pattern[Any], way: str, attack: tuple[str, str, str], size: int) -> float:
    head, pumped, end = attack
    text = head + pumped * max(1, size // len(pumped)) + end
    return _seconds(pattern, way, text) / len(text)


def _grows(pattern: re.Pattern[Any], way: str, attack: tuple[str, str, str], size: int) -> bool:
    shorter = _for_a_character(pattern, way, attack, size // _SHORTER)
    return _for_a_character(pattern, way, attack, size) > max(_SUSPICIOUS, _MOST_GROWTH * shorter)


def _is_slow(pattern: re.Pattern[Any], way: str, attack: tuple[str, str, str], size: int) -> bool:
    """Three times out of three: a busy machine takes longer at times."""
    return all(_for_a_character(pattern, way, attack, size) * size > _TOO_LONG for _ in range(3))


def _slow_text(pattern: re.Pattern[Any], way: str, longest: int = _LONGEST) -> tuple[str, str, str] | None:
    """An attack for which the pattern takes more than linear time."""
    for attack in one_in(6, sorted(_attacks(pattern))):  # a sixth is enough but for a new pattern
        if any(_is_slow(pattern, way, attack, size) for size in _SHORT):
            return attack
        if _for_a_character(pattern, way, attack, _LONG) < _SUSPICIOUS:
            continue
        if _grows(pattern, way, attack, _LONG) and all(
            _grows(pattern, way, attack, longest) for _ in range(2)
        ):
            return attack
    return None


# In groups, which are found when they run: each process that collects the tests would look for the patterns.
@pytest.mark.parametrize("group", range(_GROUPS))
def test_no_text_makes_a_pattern_slow(group: int) -> None:
    found = _found()[group::_GROUPS]
    assert len(found) > 20
    slow = {name: _slow_text(pattern, way) for name, pattern, way in found}
    assert {name: attack for name, attack in slow.items() if attack is not None} == {}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (r"\s+$", "search"),  # from each space to the last one
        (r"token=(\S+) at", "search"),
    ],
)
def test_slow_patterns_are_noticed(text: str, way: str) -> None:
    # On a busy machine one try may miss it.
    assert any(_slow_text(re.compile(text), way, longest=_LONG) for _ in range(3))
