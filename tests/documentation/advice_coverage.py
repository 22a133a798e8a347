"""How much of what torch may say has tested advice: `python tests/documentation/advice_coverage.py`.

It reads the registry of graph breaks and the error classes of the installed torch, and one text for each kind
of guard that can fail. "Tested" advice names a program of tests/integration/broken_programs/ that it cures.
"""

import ast
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dynamo_core.remedies import break_rules, recompile_rules
from support.made_causes import causes

OURS, UNTESTED, HINT, NONE = "tested advice of ours", "untested advice", "torch's own hint", "no advice"
_COLUMNS = OURS, UNTESTED, HINT, NONE
# Why a guard failed, as torch says it, for each kind that `shared/failed_guard.py` knows.
REASONS = {
    "size": "tensor 'x' size mismatch at index 0. expected 4, actual 5",
    "stride": "tensor 'x' stride mismatch at index 1. expected 4, actual 1",
    "rank": "tensor 'x' rank mismatch. expected 1, actual 2",
    "dtype": "tensor 'x' dtype mismatch. expected Float, actual Double",
    "requires_grad": "tensor 'x' requires_grad mismatch. expected requires_grad=1",
    "dispatch keys": "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual CUDA",
    "device": "Tensor device index mismatch. Expected device index to be 0, got 1",
    "type of a tensor": "expected type of 'x' to be a tensor type, ' but found <class 'int'>",
    "length": "len(xs) == 3",
    "empty": "not xs",
    "relation of sizes": "a.size()[0] == b.size()[0]",
    "type": "___check_type_id(n, 94), type=<class 'int'>",
    "identity": "___check_obj_id(fn, 1397)",
    "freed object": "Cache line invalidated because L['m'] got deallocated",
    "global state": "GLOBAL_STATE changed: grad_mode",
    "attribute": "hasattr(x, 'kept') == False",
    "dictionary": "___dict_contains('k', d)",
    "none or bool": "self.head is None",
    "comparison": "lr > 0.3",
    "value": "mode == 'train'",
    "other": "something new in torch",
}
_ANY_WORDS = "what torch may say"
_CONTROL_FLOW = ("RestartAnalysis", "ObservedException", "SkipFrame", "StepUnsupported")


def torch_folder() -> Path:
    """The folder of the installed torch, which is not imported."""
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent


def graph_breaks() -> dict[str, str]:
    """By the id of each graph break in torch's registry, what is advised."""
    registry = json.loads((torch_folder() / "_dynamo" / "graph_break_registry.json").read_text())
    return {name: _advised(versions[0]) for name, versions in registry.items()}


def _advised(known: dict[str, Any]) -> str:
    words = f"{known['Gb_type']}\n{known['Explanation']}"
    if _has_cause(words):
        return OURS
    return HINT if break_rules.useful_hints(known["Hints"]) else NONE


def _has_cause(words: str) -> bool:
    """Whether a cause of ours is known by these words, on some line.

    One that is known by the user's line alone, whatever torch says, does not count.
    """
    known = (each.words for each in break_rules.TABLE if each.words is not None)
    return any(each.search(words) for each in known if not each.search(_ANY_WORDS))


def error_classes() -> dict[str, str]:
    """By the name of each of Dynamo's error classes that reaches a program, what is advised."""
    tree = ast.parse((torch_folder() / "_dynamo" / "exc.py").read_text())
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    names = [name for name in bases if "Exception" in _ancestors(name, bases) and not name.startswith("_")]
    inner = {name for name in names if {name, *_ancestors(name, bases)} & {*_CONTROL_FLOW}}
    return {name: OURS if _has_cause(f"{name}: why\n") else NONE for name in names if name not in inner}


def _ancestors(name: str, bases: dict[str, list[str]]) -> Iterator[str]:
    for base in bases.get(name, ()):
        yield {"RuntimeError": "Exception"}.get(base, base)
        yield from _ancestors(base, bases)


def recompile_reasons() -> dict[str, str]:
    """By the kind of each guard that can fail, what is advised."""
    found = {}
    for kind, reason in REASONS.items():
        (cause,) = causes([f"0/0: {reason}"])
        remedies = [each for rule in recompile_rules.TABLE if rule.matches(cause) for each in rule.remedies]
        found[kind] = OURS if any(each.cures for each in remedies) else UNTESTED if remedies else NONE
    return found


def coverage() -> dict[str, Counter[str]]:
    """How many there are of each, by what is advised."""
    return {
        "graph breaks of the registry": Counter(graph_breaks().values()),
        "error classes": Counter(error_classes().values()),
        "kinds of guards that fail": Counter(recompile_reasons().values()),
    }


def table() -> list[str]:
    """The rows of the table in docs/advice.md."""
    return [
        f"| {what} | {counts.total()} | {' | '.join(str(counts[column]) for column in _COLUMNS)} |"
        for what, counts in coverage().items()
    ]


if __name__ == "__main__":
    print(f"torch {version('torch')}", *table(), sep="\n")
    for advised in (graph_breaks(), error_classes(), recompile_reasons()):
        print(
            "no tested advice:", ", ".join(name for name, what in advised.items() if what in (NONE, UNTESTED))
        )
