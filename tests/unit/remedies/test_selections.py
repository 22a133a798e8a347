"""Rows that are selected by a mask, or by where it holds: what of it no setting cures."""

import pytest

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice

BRANCH = ("Data-dependent branching", "Detected data-dependent branching.")
SIZED = ("Dynamic shape operator", "Operator `aten.nonzero.default`'s output shape depends on data.")


def first(words: tuple[str, str], line: str, *behind: str) -> str:
    place = Place("/home/me/router.py", 7)
    around = {7: line, **{8 + n: text for n, text in enumerate(behind)}}
    explained = BreakExplanation(place, *words, (), None)
    broken = GraphBreak(words[0], (StackFrame(place, "forward", line),), None, explained, (), around)
    return break_advice(broken, "2.13.0")[0].text


@pytest.mark.parametrize(
    ("line", "behind"),
    [
        ("    if mask.any():", ("        out[mask] = self.net(x[mask])",)),
        ("    if mask.sum() > 0:", ("        y = self.net(x[mask])", "        out[mask, :] += y")),
        ("    if torch.any(mask):", ("        out[:, mask] = 0", "    return out")),
    ],
)
def test_a_branch_that_only_fills_rows_is_left_out(line: str, behind: tuple[str, ...]) -> None:
    assert first(BRANCH, line, *behind).startswith("leave out the branch, and select no rows: calculate")


@pytest.mark.parametrize(
    ("line", "behind"),
    [
        ("    if mask.any():", ("        loss = loss + self.net(x[mask]).mean()",)),
        ("    if mask.any():", ("        out[other] = self.net(x[mask])",)),
        ("    if mask.all():", ("        out[mask] = self.net(x[mask])",)),
        ("    if mask.any():", ("        out[mask] = 1", "    else:", "        out = out * 2")),
        (
            "    if mask.any():",
            ("        seen = x[mask].sum()", "        out[mask] = seen", "    return seen"),
        ),
    ],
)
def test_a_branch_that_does_something_else_is_not(line: str, behind: tuple[str, ...]) -> None:
    assert "calculate for all of them, and choose by the mask" not in first(BRANCH, line, *behind)


def test_what_is_branched_on_by_its_size_later_needs_a_mask_and_no_setting() -> None:
    lines = ("    part = x[index]", "    if part.shape[0] > 0:", "        out = out + part.sum(0)")
    assert first(SIZED, "    index = chosen.nonzero()", *lines).startswith("do not select rows")
    others = ("    part = x[index]", "    if x.shape[0] > 0:", "        out = out + part.sum(0)")
    assert "CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS" in first(SIZED, "    index = chosen.nonzero()", *others)


def test_what_an_operator_gets_that_has_to_know_the_size_is_not_selected() -> None:
    for call in (
        "self.attn(kept)",
        "self.conv1(kept.t()[None])",
        "kept.cumsum(0)",
        "torch.linalg.svdvals(kept)",
    ):
        assert first(SIZED, "    kept = x[keep]", f"    y = {call}").startswith("keep all rows")
    for call in ("self.linear(kept)", "self.conv1(x)", "converted(kept)"):
        assert "CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS" in first(SIZED, "    kept = x[keep]", f"    y = {call}")
