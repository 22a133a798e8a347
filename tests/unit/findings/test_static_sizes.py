"""What is advised where a backend fails on a graph with a dynamic size: to keep the sizes static."""

from pathlib import Path
from typing import Any

import pytest

from dynamo_core.findings import Finding, find
from dynamo_core.model import CompileId, Frame, Place, Recording, Run
from support.made_causes import FILE, opened, process, size

CRASH = "InductorError: CppCompileError: C++ compile error"


def findings(reason: str, *, dynamic: bool | None = None, symbols: bool = True) -> list[Finding]:
    """Of a function that came with another size, for which compiling it raised an error."""
    frame = Frame("f", Place(FILE, 3), "raised", reason, False, False, CompileId(0, 1))
    more: dict[str, Any] = {"symbols": [opened()]} if symbols else {}
    one = process([size(4, 5)], dynamic=dynamic, frames=[frame], **more)
    return find(Recording(Path("rec"), Run(exit_code=0), [one], 1, []))


def advice(found: list[Finding], kind: str) -> list[str]:
    return [remedy.text for each in found if each.kind == kind for remedy in each.remedies]


def test_sizes_stay_static_where_the_backend_fails_on_dynamic_ones() -> None:
    found = findings(CRASH)
    first, *others = advice(found, "compiler error")
    assert first.startswith("pass `dynamic=False` to `torch.compile`") and "aot_eager" in others[0]
    assert [each[:22] for each in advice(found, "recompile")] == ["pass `dynamic=False` t"]
    (recompile,) = (each for each in found if each.kind == "recompile")
    assert recompile.cost.saves_at_most.seconds is None, "each size is compiled all the same"


@pytest.mark.parametrize(
    ("reason", "known"),
    [
        ("RuntimeError: of the program", {}),
        (CRASH, {"symbols": False}),
        (CRASH, {"dynamic": False}),
    ],
)
def test_nothing_of_that_is_said_of_other_failures(reason: str, known: dict[str, Any]) -> None:
    texts = advice(findings(reason, **known), "recompile")
    assert not any(each.startswith("pass `dynamic=False`") for each in texts)
