"""The topics of DYNAMO_LOGS: their names, the grammar, and who shows what while a program runs."""

from collections.abc import Callable, Mapping
from typing import Any

from dynamo_core.analysis.words import compile_label, frame_name, place, seconds
from dynamo_core.model import Bytecode, Compile, Graph, GraphBreak, GuardSet
from dynamo_core.shared import names
from dynamo_core.shared.errors import did_you_mean

from .breaks import break_blocks
from .bytecode.report import bytecode_blocks
from .graphs.report import graph_blocks
from .guards.report import guards_blocks
from .ops import ops_blocks
from .page.blocks import Block, Heading
from .recompiles import recompile_blocks
from .report import Detail


def times_blocks(compile_: Compile, detail: Detail) -> list[Block]:
    """One line a compile; phases include those that they call (dynamo ⊃ backend ⊃ inductor)."""
    what = "" if compile_.is_forward else "backward of "
    line = f"compile {compile_label(compile_.compile_id)} {what}{frame_name(compile_.name, compile_.method)} "
    line += f"took {seconds(compile_.seconds)}"
    if detail is not Detail.LESS:
        phases = [f"{name} {seconds(value)}" for name, value in compile_.phases.items()]
        if phases:
            line += f" (cumulative: {', '.join(phases)})"
    if detail is Detail.MORE:
        line += f" at {place(compile_.place)}"
        if compile_.cache_hits is not None and compile_.cache_misses is not None:
            line += f"; caches: {compile_.cache_hits} hits, {compile_.cache_misses} misses"
    return [Heading(line, 3)]


LOGS_VARIABLE = "DYNAMO_LOGS"

DESCRIPTIONS = {
    "graphs": "every FX graph handed to a backend; +graphs its table",
    "bytecode": "every compiled frame; +bytecode its original and modified bytecode",
    "guards": "how many guards every cache entry has; +guards which",
    "breaks": "graph breaks; +breaks torch's explanation and hints",
    "recompiles": "recompiles, with the guard that failed; +recompiles every entry's",
    "ops": "the size of every graph; +ops its op counts",
    "times": "what every compile took; +times by phase",
    "all": "all of these",
}

# The records whose payloads the topics need.
CONTENTS = frozenset({names.FX_GRAPH, names.BYTECODE, names.GUARDS, "dynamo_cpp_guards_str"})

Details = Mapping[str, Detail]
_DETAILS = (Detail.LESS, Detail.NORMAL, Detail.MORE)  # by how many + stand before a name


class UnknownTopic(ValueError):
    """DYNAMO_LOGS names something that is no topic."""


def parse_topics(text: str) -> dict[str, Detail]:
    """`all,+guards,-times` as a detail for each topic; a name of its own goes before `all`.

    UnknownTopic says which name is unknown and which is nearest.
    """
    named: dict[str, Detail] = {}
    left_out = set()
    for word in filter(None, (part.strip() for part in text.split(","))):
        name = word.lstrip("+-")
        sign = word.removesuffix(name)
        if name not in DESCRIPTIONS:
            hint = did_you_mean(name, [*DESCRIPTIONS, "help"]) or f"it knows {', '.join(DESCRIPTIONS)}"
            raise UnknownTopic(f"{LOGS_VARIABLE} has no topic {name!r}; {hint}")
        if sign.startswith("-"):
            left_out.add(name)
        else:
            named[name] = _DETAILS[min(len(sign), len(_DETAILS) - 1)]
    if "all" in named:
        rest = named.pop("all")
        named = {name: rest for name in DESCRIPTIONS if name != "all"} | named
    return {name: detail for name, detail in named.items() if name not in left_out}


def help_text() -> str:
    """What `DYNAMO_LOGS=help` prints."""
    width = max(map(len, DESCRIPTIONS))
    names = "\n".join(f"  {name:<{width}}  {what}" for name, what in DESCRIPTIONS.items())
    return (
        f"{LOGS_VARIABLE} prints what the compiler does while the program runs, on stderr.\n"
        "It takes names with commas between: a line for each event, with the time of day; +name for a block\n"
        "that says more, ++name for all there is, -name for what `all` is not to have.\n\n"
        f"{names}\n\nExample: {LOGS_VARIABLE}=all,++breaks,-bytecode dynamo run script.py"
    )


# By topic the class of what it is about, and what it shows.
_SHOWN: tuple[tuple[str, type, Callable[[Any, Detail], list[Block]]], ...] = (
    ("graphs", Graph, graph_blocks),
    ("ops", Graph, ops_blocks),
    ("bytecode", Bytecode, bytecode_blocks),
    ("guards", GuardSet, guards_blocks),
    ("breaks", GraphBreak, break_blocks),
    ("recompiles", Compile, recompile_blocks),
    ("times", Compile, times_blocks),
)


def lines_and_blocks(item: object, details: Details) -> tuple[list[str], list[Block]]:
    """What the topics in `details` say about something that has just happened, in lines and in blocks."""
    lines = {topic for topic, detail in details.items() if detail is Detail.LESS}
    short = _blocks(item, {topic: details[topic] for topic in lines})
    headings = [block.text for block in short if isinstance(block, Heading)]
    return headings, _blocks(item, {topic: details[topic] for topic in details if topic not in lines})


def _blocks(item: object, details: Details) -> list[Block]:
    return [
        block
        for topic, kind, blocks_of in _SHOWN
        if topic in details and isinstance(item, kind)
        for block in blocks_of(item, details[topic])
    ]
