"""What is left to Python comes first or last, where that changes nothing: the rest stays in one graph."""

import textwrap

import pytest

from support.edited_text import edited, text


def order_of(body: str) -> list[str]:
    """The lines of the function once one of them is left to Python; its parts are `f_1` and on."""
    inside = textwrap.indent(text(body), "    ")
    changed = edited("compiled around it", f"@torch.compile\ndef f(self, x, mask):\n{inside}")
    assert changed is not None
    return [each.strip().partition("  # ")[0] for each in changed.partition("def f(")[2].splitlines()[1:]]


def test_a_line_for_its_effect_comes_last() -> None:
    body = """
    y = self.a(x)
    self.seen.append(y.sum().item())  # here
    z = self.b(y)
    return z.relu()
    """
    assert order_of(body) == [
        "returned, value_given = f_1(self, x)",
        "self.seen.append(value_given.item())",
        "return returned",
    ]


def test_what_needs_the_line_comes_behind_it() -> None:
    body = """
    y = x.sin()
    share = y.mean().item()  # here
    z = y.cos()
    w = z * share
    return w + 1
    """
    assert order_of(body) == [
        "value_given, z = f_1(x)",
        "share = value_given.item()",
        "return f_2(share, z)",
    ]


def test_a_line_that_needs_nothing_comes_first() -> None:
    body = """
    y = x.sin()
    is_there = exists(self.path)  # here
    return y * 2 if is_there else y
    """
    assert order_of(body) == ["is_there = exists(self.path)", "return f_1(is_there, x)"]


@pytest.mark.parametrize(
    "behind",
    [
        "x[0] = 1",  # in place
        "x.add_(1)",
        "x += 1",
        "self.seen = x.cos()",
        "self.drop()\nx = x.cos()",  # another effect, which stays behind the first
        "if mask is None:\n    return x",
    ],
)
def test_a_line_stays_before_what_may_change_what_it_reads(behind: str) -> None:
    lines = order_of(f"x = x.sin()\nself.note(x)  # here\n{behind}\nreturn x.tan()\n")
    assert lines.index("self.note(x)") == 1, lines


def test_a_line_that_reads_the_clock_does_not_come_first() -> None:
    body = """
    y = x.sin()
    begin = time.time()  # here
    return y, begin
    """
    assert order_of(body)[0] == "y = f_1(x)"


def test_in_a_loop_it_comes_behind_the_rest_of_the_pass() -> None:
    body = """
    for layer in self.layers:
        x = layer(x)
        print(x.shape)  # here
        total = x.sum() + 1
    return total
    """
    assert order_of(body)[1:3] == ["total, x = f_1(layer, x)", "print(x.shape)"]
