"""What decides outside, and is then put beside what is calculated: the compiled part does not see it."""

import pytest

from support.edited_text import edited

BEFORE = """
    @torch.compile
    def f(x, name):
        if name.startswith("a"):  # here
            x = x.clamp(max=1)
        y = x.sin()
        {line}
    """


@pytest.mark.parametrize(
    ("line", "calculated", "left"),
    [
        (
            'return {"id": name, "out": y.cos()}',
            "return y.cos()",
            'return {"id": name, "out": beside_name_1}',
        ),
        ("return name, g(y), y", "return beside_name_1, y", "return name, beside_name_1, y"),
        ("out = Out(name, sum=y.sum())", "return y.sum()", "out = Out(name, sum=beside_name_1)"),
        ("return [name, y]", "return x.sin()", "return [name, y]"),
    ],
)
def test_an_argument_that_is_only_handed_on_is_left_to_python(line: str, calculated: str, left: str) -> None:
    changed = edited("decided outside", BEFORE.format(line=line), "name")
    assert changed is not None
    compiled, _, caller = changed.partition("\ndef f(x, name):")
    assert "def f_2(x):\n" in compiled and f"    {calculated}\n" in compiled
    assert f"    {left}\n" in caller


@pytest.mark.parametrize(
    "line",
    [
        "return name, g(y, name)",  # it is needed there
        "return (name, *y.split(1))",
        "return {**found, 'id': name}",
        "return name + y",
        "return out(name, y.cos())",  # a function, which may calculate
    ],
)
def test_what_is_calculated_with_it_stays_compiled(line: str) -> None:
    changed = edited("decided outside", BEFORE.format(line=line), "name")
    assert changed is not None and "beside_name" not in changed
    assert line in changed


def test_a_name_that_is_assigned_in_the_function_is_no_argument() -> None:
    body = "@torch.compile\ndef f(x, name):\n    if name == 'a':  # here\n        name = 'b'\n"
    changed = edited("decided outside", body + "    return name, x.sin()\n", "name")
    assert changed is None or "beside_name" not in changed
