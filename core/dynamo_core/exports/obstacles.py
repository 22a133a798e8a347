"""What stands in the way of an export: the line, why, and what to do.

Where Dynamo breaks the graph at the same line, cause and remedies are those of the finding on that break.
Else they are from a table here, of what only an export requires; else from the tables of remedies for breaks.
Source of the words: torch/fx/experimental/symbolic_shapes.py (GuardOnDataDependentSymNode, produce_guards),
torch/_export/non_strict_utils.py, torch/export/_trace.py, torch/_subclasses/fake_tensor.py; 2.13.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..analysis.words import first_line
from ..findings import Finding
from ..model import DraftedObstacle, ExportTrial, GraphBreak, Place, StackFrame
from ..remedies.break_rules import break_advice, break_cause
from ..remedies.rules import RemedyTemplate, Rule, first_rule, user_line
from ..shared.conversion import from_fields
from ..shared.names import COMPILE, CRASHED, DRAFT, RAISED, TOO_LONG
from ..shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Obstacle:
    """One thing in the way. `met_by` names the trials that met it; `via` is the library's line in which.

    `words` are torch's. `place` is the user's line, None where torch does not say it.
    """

    met_by: tuple[str, ...]
    place: Place | None
    function: str | None
    source: str
    via: StackFrame | None
    cause: str
    remedies: tuple[str, ...]
    words: str


class _Failure(NamedTuple):
    """Torch's words on a failed export, and the user's line."""

    words: str
    line: str
    version: tuple[int, int] = (0, 0)


def _rule(
    words: re.Pattern[str], cause: str, *remedies: str, line: re.Pattern[str] | None = None
) -> Rule[_Failure]:
    """The rule for torch's `words`, on a `line` of the user's; `cause` may name their groups."""
    return Rule(words, cause, tuple(map(RemedyTemplate, remedies)), line)


_DATA_DEPENDENT = re.compile(r"[Dd]ata-dependent (?:expression|error|branch)|DATA_DEPENDENT")
_TABLE = (
    _rule(
        re.compile(r"as dynamic but your code specialized it|Constraints violated"),
        "a size was not the same in all calls, but the code computes with it as a constant",
        "take the size from the tensor (x.shape[0], or -1 in a reshape) where the code has a number or "
        "branches on it, or export for that one size",
    ),
    _rule(
        _DATA_DEPENDENT,
        "how often the loop runs depends on what a tensor holds, which is not known while it is exported",
        "torch._higher_order_ops.while_loop(condition, body, values) exports as a loop; where the number "
        "of passes has a bound, run so many and choose with torch.where",
        line=re.compile(r"^while\b"),
    ),
    _rule(
        _DATA_DEPENDENT,
        "what comes next depends on a value that is known only when the program runs",
        "choose between values with torch.where, between computations with torch.cond",
        "where the value is always in some range, say so before the line: torch._check(condition)",
    ),
    _rule(
        re.compile(r"MISSING_FAKE_KERNEL|no fake impl|no abstract impl|register_fake|fake kernel"),
        "an operator has no fake kernel, from which torch would learn what sizes and types it gives",
        "register one: @torch.library.register_fake('namespace::operator')",
    ),
    _rule(
        re.compile(r"(?:Found <class '[\w.]{0,200}?|unrecognized type \w+\()(?P<type>\w+)(?:'>|\))"),
        "it returns a {type}, of which torch.export does not know how to take it apart",
        "return the tensors in it, or leave it out (of a Hugging Face model: config.use_cache = False "
        "for its cache, config.return_dict = False for its output)",
        "register its type: torch.export.register_dataclass, torch.utils._pytree.register_pytree_node",
    ),
    _rule(
        re.compile(r"Unsupported input type|[Uu]nsupported (?:input|output|type)|only pytree|pytree node"),
        "torch.export takes tensors, numbers, strings and containers of them, and this is none",
        "register its type: torch.export.register_dataclass(Type), for other classes "
        "torch.utils._pytree.register_pytree_node; or pass the tensors in it",
    ),
    _rule(
        re.compile(r"assigned during export|registered as buffers"),
        "forward assigns a tensor to an attribute of the module, which the exported program could not keep",
        "make it a buffer: self.register_buffer('name', tensor) in __init__, or return it",
    ),
    _rule(
        re.compile(r"data is not allocated yet|\.numpy\(\) is not supported|Cannot access data pointer"),
        "code outside of torch looks at the values of a tensor, which has none while it is exported",
        "compute it with torch's own functions, or make it a custom operator (torch.library.custom_op)",
    ),
    _rule(
        re.compile(r"Must provide a tree_name"),
        "torch takes no dynamic_shapes where forward gets arguments by **keywords",
        "name these arguments in the signature of forward",
    ),
    _rule(
        re.compile(r"ScriptModule"),
        "it is a TorchScript module, which torch.export does not take",
        "export the module that it was scripted from",
    ),
)
# Remedies that leave code to Python, which an export cannot.
_LEAVES_IT_TO_PYTHON = re.compile(r"torch\.compile\b|compiled function|before the call of")


def obstacles(
    trials: Iterable[ExportTrial], findings: Sequence[Finding], version: str | None
) -> list[Obstacle]:
    """All obstacles that the trials met, each line once, in the order in which they were met."""
    found: list[Obstacle] = []
    for trial in trials:
        found += [_trial_obstacle(trial, version)] if trial.failed_at is not None else []
        found += [_ended_obstacle(trial)] if trial.outcome in (TOO_LONG, CRASHED) else []
        found += [drafted_obstacle(each) for each in trial.obstacles]
    found += [_finding_obstacle(finding) for finding in findings]
    return _merge_by_line(found)


def _trial_obstacle(trial: ExportTrial, version: str | None) -> Obstacle:
    failed_at = trial.failed_at
    assert failed_at is not None
    line = _locate(failed_at)
    advice: tuple[str, ...] = ()
    if trial.outcome == RAISED:
        cause = f"the module itself raises {trial.error_kind}, without any export"
    else:
        known = _explained(trial.error or "", line.source)
        advised = tuple(each.text for each in break_advice(failed_at, version))
        cause, advice = known or (break_cause(failed_at, version), advised)
    return from_fields(
        Obstacle,
        line,
        met_by=(trial.kind,),
        cause=cause,
        remedies=advice,
        words=f"{trial.error_kind}: {_most_specific_line(trial.error or '')}",
    )


class _Line(NamedTuple):
    """Where an obstacle is: the user's line, and the library's line that it leads to."""

    place: Place | None
    function: str | None
    source: str
    via: StackFrame | None


def _locate(met: GraphBreak) -> _Line:
    line, library = user_line(met)
    via = met.stack[-1] if library is not None else None
    return (
        _Line(None, None, "", via)
        if line is None
        else _Line(line.place, line.function, line.text.strip(), via)
    )


def _ended_obstacle(trial: ExportTrial) -> Obstacle:
    cause = (
        f"the trial was ended after {trial.seconds:.0f} s (--time-limit)"
        if trial.outcome == TOO_LONG
        else f"the process of the trial ended: {trial.error}"
    )
    return Obstacle((trial.kind,), None, None, "", None, cause, (), "")


def drafted_obstacle(drafted: DraftedObstacle) -> Obstacle:
    """An obstacle that a draft export met, or that is in a trace that torch wrote."""
    line = _locate(GraphBreak(drafted.text, drafted.stack, None))
    unknown = drafted.kind.replace("_", " ").lower(), ()
    cause, remedies = _explained(drafted.kind, line.source) or unknown
    return from_fields(
        Obstacle,
        line,
        met_by=(DRAFT,),
        cause=cause,
        remedies=remedies,
        words=f"{drafted.kind}: {drafted.text}",
    )


def _finding_obstacle(finding: Finding) -> Obstacle:
    return from_fields(
        Obstacle,
        finding,
        met_by=(COMPILE,),
        remedies=_export_remedies(finding),
        words=first_line(finding.evidence.records[0]) if finding.evidence.records else "",
    )


def _export_remedies(finding: Finding) -> tuple[str, ...]:
    """The remedies that work for an export: edits, but not settings or leaving code to Python."""
    texts = [each.text for each in finding.remedies if each.kind == "edit"]
    return tuple(text for text in texts if not _LEAVES_IT_TO_PYTHON.search(text))


def _explained(words: str, line: str) -> tuple[str, tuple[str, ...]] | None:
    """The cause and the remedies that the table has for this; None where no rule matches."""
    rule = first_rule(_TABLE, _Failure(words, line))
    if rule is None or rule.words is None:
        return None
    found = rule.words.search(words)
    cause = rule.sentence.format_map(found.groupdict() if found else {})
    return cause, tuple(each.text for each in rule.remedies)


def _most_specific_line(error: str) -> str:
    """The line of torch's error that names the size, if there is one, else the first line."""
    named = re.search(r"^ {0,4}- (You marked .*)$", error, re.MULTILINE)
    return named[1] if named else first_line(error)


def _merge_by_line(found: list[Obstacle]) -> list[Obstacle]:
    """Merge obstacles at the same line, and those of the same cause where torch names no line."""
    by_place: dict[object, list[Obstacle]] = {}
    for obstacle in found:
        elsewhere = [other.place for other in found if other.place and other.cause == obstacle.cause]
        place = obstacle.place or next(iter(elsewhere), None) or obstacle.cause
        by_place.setdefault(place, []).append(obstacle)
    return [_merge(same) for same in by_place.values()]


def _merge(same: list[Obstacle]) -> Obstacle:
    """One obstacle with the words of the first, and cause and remedies of the finding on a break, if any."""
    first = same[0]
    placed = next((each for each in same if each.place), first)
    best = next((each for each in same if each.met_by == (COMPILE,) and each.remedies), placed)
    met_by = tuple(dict.fromkeys(way for each in same for way in each.met_by))
    return replace(
        placed,
        met_by=met_by,
        via=best.via or placed.via,
        cause=best.cause,
        remedies=best.remedies,
        words=first.words,
    )
