"""A row of the table of remedies for recompiles: for which causes, what to say, and what to change."""

from collections.abc import Callable

from ...recording.recompile_text import plain_source
from ...shared.quick_dataclass import dataclass
from ..recompile_causes import RecompileCause
from ..words import place
from .advice import Advice, Change

_OLDEST = (2, 8)
_MOST_SHOWN = 8
_LONGEST_CHECK = 120
_ASKED_FOR = ", and the program asks for a version of each (`dynamic=False`); if it need not"


@dataclass(frozen=True)
class RecompileRemedy:
    """`text` may have `{what}`, `{source}`, `{values}` and `{line}` of the cause, and what is `{typed}`.

    What a remedy is `{against}` is the program's own word, where it has one.

    `cures` names programs in tests/integration/broken_programs/ of which it is the first remedy and which it
    cures; `never_for` those in which it would raise an error, or change nothing. `since` is the first version
    of torch that accepts it. What is only a further way stands `besides` another remedy.
    """

    name: str
    applies: Callable[[RecompileCause], bool]
    text: str
    change: Callable[[RecompileCause], Change | None] | None = None
    may_change: str = ""
    besides: bool = False
    since: tuple[int, int] = _OLDEST
    cures: tuple[str, ...] = ()
    never_for: tuple[str, ...] = ()

    def is_for(self, cause: RecompileCause) -> bool:
        """Whether it applies, and torch accepts it: every torch, where the version was not recorded."""
        version = cause.version if any(cause.version) else _OLDEST
        return version >= self.since and self.applies(cause)

    def advice(self, cause: RecompileCause) -> Advice:
        """It, with the names and values of a cause."""
        change = self.change(cause) if self.change is not None else None
        return Advice(self.text.format(**_words(cause, change)), change, self.may_change)


def _marked(cause: RecompileCause) -> str:
    """Each size that goes along with it as well: torch refuses one that is marked alone."""
    sizes = [(plain_source(source), index) for source, index in cause.dynamic_sources if index is not None]
    named = dict.fromkeys([(cause.source, cause.index), *sizes])
    return " and ".join(f"`torch._dynamo.mark_dynamic({name}, {index})`" for name, index in named)


def _words(cause: RecompileCause, change: Change | None) -> dict[str, str]:
    assigned = (*change.environment, *change.settings, *change.arguments) if change is not None else ()
    failure = cause.failure
    return {
        "what": what_varies(cause),
        "name": cause.source or "tensor",
        "marked": _marked(cause),
        "source": f"`{cause.source}`" if cause.source else "an input",
        "values": shown_values(cause),
        "against": _ASKED_FOR if cause.dynamic is False else "",
        "all": "all but 0 and 1 of" if cause.came_as_0_or_1 else "all of",
        "expected": (failure.expected if failure is not None else None) or "named",
        "check": _short(failure.check) if failure is not None else "",
        "hint": (failure.hint if failure is not None else None) or "",
        "typed": " ".join(f'{each.name}="{each.value}"' for each in assigned),
        "caller": f"`{cause.eager_caller}`" if cause.eager_caller else "a function",
        "line": f"`{cause.line}`" if cause.line else f"line {place(cause.place)}",
    }


def shown_values(cause: RecompileCause) -> str:
    """The values, or the first of many."""
    shown = ", ".join(cause.values[:_MOST_SHOWN])
    return shown + (", …" if len(cause.values) > _MOST_SHOWN else "")


def what_varies(cause: RecompileCause) -> str:
    """What varies, as a sentence begins with it: the size of `x` at dimension 0."""
    if cause.kind == "size":
        return f"the size of `{cause.source}` at dimension {cause.index}"
    if cause.kind == "relation of sizes" and cause.failure is not None:
        return f"whether `{cause.failure.check}`"
    return f"`{cause.source}`" if cause.source else "an input"


def _short(check: str) -> str:
    return check if len(check) <= _LONGEST_CHECK else check[:_LONGEST_CHECK] + "…"
