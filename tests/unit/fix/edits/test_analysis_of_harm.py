"""Edits that would change what a program does, perhaps unseen by the run that proves them: not made."""

import pytest

from support.edited_text import edited, text
from support.harmful_divisions import HARMFUL_DIVISIONS

WOULD_HARM = [
    pytest.param(
        "compile hoisted",
        None,
        """
        inner = a
        def run(x):
            return torch.compile(inner)(x)  # here
        run(1)
        inner = b
        run(1)
        """,
        id="another function later",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(c, x):
            y = x
            if c.sum() > 0:  # here
                y = x * 2
            y.add_(1)
            return y
        """,
        id="changed later",
    ),
    pytest.param(
        "set at the start",
        None,
        """
        import os
        device = args.device
        f(1)
        torch.set_default_device(device)
        f(2)  # here
        """,
        id="a name from above",
    ),
    pytest.param(
        "item kept a tensor",
        None,
        """
        def f(x):
            a = x[0].item()  # here
            x[0] = 3
            return x * a
        """,
        id="changed after",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x, save):
            if save:
                n = write("a")  # here
                x = x * n
            return x
        f(1, True); f(1, False)
        """,
        id="conditional",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x, save):
            if not save:
                return x
            n = write("a")  # here
            return x * n
        f(1, True); f(1, False)
        """,
        id="after return",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x):
            y = work(x)
            end = time.time()  # here
            return y, end
        f(1)
        """,
        id="second clock",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x):
            n = scale_of(step)  # here
            return x * n
        def main():
            for step in range(3):
                print(f(step))
        """,
        id="shadow",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x):
            global n
            n += 1
            y = scale_of(n)  # here
            return x * y
        f(1)
        """,
        id="global counter",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x):
            import time
            y = time.time()  # here
            return x * y
        f(1)
        """,
        id="local import",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x, ok):
            y = ok and read("a")  # here
            return x * y
        f(1, 2)
        """,
        id="and",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @torch.compile
        def f(x, y_given=1):
            y = read("a")  # here
            return x * y * y_given
        f(1)
        """,
        id="given name there",
    ),
    pytest.param(
        "call moved out",
        None,
        """
        @app.command
        @torch.compile
        def f(x):
            y = read("a")  # here
            return x * y
        f(1)
        """,
        id="other decorator",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            gc.collect()  # here
            return x * 2
        ys = [f(x) for x in xs]
        """,
        id="in a comprehension",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            gc.collect()  # here
            return x * 2
        g = lambda: f(1)
        """,
        id="in a lambda",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            gc.collect()  # here
            return x * 2
        y = f(1) if a else 2
        """,
        id="sometimes",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            print(x)
            log("a")  # here
            return x * 2
        y = f(1)
        """,
        id="after another",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            torch.manual_seed(0)  # here
            return x * 2
        y = f(torch.randn(3))
        """,
        id="args calls",
    ),
    pytest.param(
        "statement moved out",
        None,
        """
        @torch.compile
        def f(x):
            y = torch.randn(3)
            torch.manual_seed(0)  # here
            return x * y
        y = f(z)
        """,
        id="seed after draw",
    ),
    pytest.param(
        "compile hoisted",
        None,
        """
        for seed in range(3):
            model = torch.compile(Net())  # here
            train(model)
        """,
        id="fresh model",
    ),
    pytest.param(
        "compile hoisted",
        None,
        """
        def run(x):
            step = torch.compile(inner)  # here
            return step(x)
        for step in range(3):
            run(step)
        """,
        id="global name",
    ),
    pytest.param(
        "compile hoisted",
        None,
        """
        class N:
            def run(self, x):
                return torch.compile(inner)(x)  # here
        """,
        id="method",
    ),
    pytest.param(
        "compile hoisted",
        None,
        """
        g = None
        for i in range(3):
            if i == 2 and flag:
                print("now")
                g = torch.compile(inner)  # here
            print(g is None)
        """,
        id="conditional",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(x):
            if x.sum() > 0:  # here
                x += 1
            return x
        """,
        id="aug on param",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(x):
            n = x.sum()
            if n > 0:  # here
                x = x / n
            return x
        f(x).sum().backward()
        """,
        id="gradient of a division",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(c, x, a):
            if c.sum() > 0:  # here
                a = x
            else:
                b = a
                a = x * 5
            return a + b
        """,
        id="cross",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(c, x, y):
            if c.sum() > 0:  # here
                y = x.add_(1)
            return y
        """,
        id="effect",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(c, x, y):
            if c.sum() > 0:  # here
                y = x + torch.randn(3)
            return y
        """,
        id="random",
    ),
    pytest.param(
        "branch to where",
        None,
        """
        def f(c, x, y):
            if c.sum() > 0:  # here
                y = saved(x)
            return y
        """,
        id="writes",
    ),
    pytest.param(
        "deepcopy to clone",
        None,
        """
        y = copy.deepcopy(a if c else b)  # here
        """,
        id="precedence",
    ),
    pytest.param(
        "deepcopy to clone",
        None,
        """
        y = copy.copy(a)  # here
        """,
        id="shallow",
    ),
    pytest.param(
        "assert with a constant message",
        None,
        """
        assert x > 0, "it is wrong"  # here
        """,
        id="constant",
    ),
]


@pytest.mark.parametrize(("edit", "operand", "body"), [*WOULD_HARM, *HARMFUL_DIVISIONS])
def test_it_is_left_as_it_is(edit: str, operand: str | None, body: str) -> None:
    assert edited(edit, body, operand) is None


def test_an_argument_is_found_behind_those_by_position_only() -> None:
    body = "@torch.compile\ndef f(a, /, b):\n    n = scale_of(b)  # here\n    return a * n\nf(1, 2)\n"
    assert "f(1, 2, n_given=scale_of(2))" in (edited("call moved out", body) or "")


def test_a_comment_goes_with_its_line_once() -> None:
    body = "f(1)\n# why\ntorch.set_default_dtype(torch.float64)\nf(2)  # here\n"
    changed = edited("set at the start", f"import os\n{body}")
    assert changed == "import os\n# why\ntorch.set_default_dtype(torch.float64)\nf(1)\nf(2)  # here\n"
    body = "# about\ndef run(x):\n    return torch.compile(inner)(x)  # here\n"
    assert (edited("compile hoisted", body) or "").count("# about") == 1


def test_gradients_flow_as_before() -> None:
    body = "y = x - torch.from_numpy(np.abs(x.detach().numpy()))  # here\n"
    assert edited("numpy to torch", body) == "y = x - torch.abs(x.detach())  # here\n"


def test_a_statement_that_stands_first_is_moved_and_the_data_may_be_calculated_before() -> None:
    body = """
        @torch.compile
        def f(x):
            x = x.sin() + torch.cos(x)
            gc.collect()  # here
            return x * 2
        y = f(z).sum()
        """
    changed = edited("statement moved out", body)
    assert changed is not None
    assert text("gc.collect()\ny = f(z).sum()\n") in changed
