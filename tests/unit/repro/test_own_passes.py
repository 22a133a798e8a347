"""Passes over Inductor's graphs that a program registers, and its text without them."""

import pytest

from dynamo_core.repro.own_passes import OwnPass, without_own_passes


@pytest.mark.parametrize(
    ("line", "without", "name"),
    [
        ("config.SETTING = Doubled()", "config.SETTING = None", "Doubled"),
        ("torch._inductor.config.SETTING = drop  # é", "torch._inductor.config.SETTING = None  # é", "drop"),
        ("with config.patch(a=1, SETTING=drop):", "with config.patch(a=1, SETTING=None):", "drop"),
        ("with config.patch({'SETTING': mine.drop}):", "with config.patch({'SETTING': None}):", "mine.drop"),
    ],
)
def test_a_pass_is_left_out_wherever_it_is_registered(line: str, without: str, name: str) -> None:
    setting = "post_grad_custom_post_pass"
    body = "\n    pass\n" if line.endswith(":") else "\n"
    text, passes = without_own_passes(f"import torch\n{line}{body}".replace("SETTING", setting))
    assert text == f"import torch\n{without}{body}".replace("SETTING", setting)
    assert passes == (OwnPass(setting, name, 2),)


def test_several_passes_and_one_over_several_lines() -> None:
    text = "c.joint_custom_pre_pass = Mine(\n    1,\n)\nc.post_grad_custom_pre_pass = drop; x = 1\n"
    without, passes = without_own_passes(text)
    assert without == "c.joint_custom_pre_pass = None\nc.post_grad_custom_pre_pass = None; x = 1\n"
    assert [(each.name, each.line) for each in passes] == [("Mine", 1), ("drop", 4)]


def test_what_is_no_pass_is_left_as_it_is() -> None:
    text = "c.joint_custom_pre_pass = None\nc.max_fusion_size = f()\nprint({**x, 1: 2})\n"
    assert without_own_passes(text) == (text, ())
