"""Torch's hints on a graph break: which of them help the user, and which of those comes first.

Source: torch/_dynamo/graph_break_hints.py and the hints in torch/_dynamo/graph_break_registry.json, read with
2.13; the hints of 2.8 to 2.15 have the same words.
"""

import re
from collections.abc import Sequence

# For those who develop torch, or for nobody: that there is a bug, that something might be supported, or what
# has an address in it.
_FOR_DEVELOPERS = re.compile(
    r"\b(?:report|open|file|submit) (?:an issue|a bug)|tracing rules|VariableTracker|\btp_\w"
    r"|This graph break is fundamental|likely to be a Dynamo bug|not supposed to be reachable"
    r"|side effect system|does not really define|debug context|debug_force_graph_break"
    r"|building PyTorch from source|pytest|TestCase| at 0x[0-9a-f]",
    re.IGNORECASE,
)
# What may be said of many breaks, and comes after what is said of this one.
_GENERAL = re.compile(
    r"may result in an error when running in eager|caused by an earlier graph break|dont_skip_tracing"
)
_OR_REPORT = re.compile(r",? or (?:report|open|file|submit) an issue[^.]{0,100}")
_INTERNAL = re.compile(r"___\w")


def useful_hints(hints: Sequence[str]) -> list[str]:
    """The hints that tell the user what to do, each in one line, and those on just this break first."""
    plain = (_OR_REPORT.sub("", " ".join(hint.split())) for hint in hints)
    useful = [hint for hint in plain if not (_FOR_DEVELOPERS.search(hint) or _INTERNAL.search(hint))]
    return sorted(dict.fromkeys(useful), key=lambda hint: _GENERAL.search(hint) is not None)
