"""The edits that divide a compiled function: what is compiled, and what is left to Python."""

import pytest

from support.edited_text import edited, text


def test_what_is_around_a_line_is_compiled_and_the_line_comes_behind_it() -> None:
    changed = edited(
        "compiled around it",
        '''
        # the model
        @torch.compile(backend="eager")
        def loss_of(x, y, scale=2.0):
            """What it says."""
            # how far off
            d = x - y
            e = d * d
            report(e, "loss")  # here

            # the mean
            return e.mean() * scale


        loss_of(a, b)
        ''',
    )
    assert changed == text(
        '''
        @torch.compile(backend="eager")
        def loss_of_1(scale, x, y):
            # how far off
            d = x - y
            e = d * d

            # the mean
            returned = e.mean() * scale
            return e, returned


        # the model
        def loss_of(x, y, scale=2.0):
            """What it says."""
            e, returned = loss_of_1(scale, x, y)
            report(e, "loss")  # here
            return returned


        loss_of(a, b)
        '''
    )


def test_what_has_nothing_of_the_data_stays_with_the_line() -> None:
    changed = edited(
        "compiled around it",
        """
        @torch.compile
        def f(x, path):
            x = x.relu()
            stream = connect("host")  # here
            words = stream.read()
            stream.close()
            return x * len(words)
        """,
    )
    assert changed is not None
    assert (
        text(
            """
        def f(x, path):
            stream = connect("host")  # here
            words = stream.read()
            stream.close()
            return f_1(words, x)
        """
        )
        in changed
    )


def test_blocks_that_are_left_to_python_are_divided_themselves() -> None:
    changed = edited(
        "compiled around it",
        """
        @torch.compile(mode="default")
        def search(x, most):
            best = x.sum()
            for step in range(most):
                x = x.sin()
                best = torch.maximum(best, x.sum())
                if best > 3:  # here
                    print("found")
                    break
            else:
                best = best - 1
            return x, best
        """,
    )
    assert changed is not None
    assert (
        text(
            """
        def search(x, most):
            best = search_1(x)
            for step in range(most):
                best, x = search_2(best, x)
                if best > 3:  # here
                    print("found")
                    break
            else:
                best = search_3(best)
            return x, best
        """
        )
        in changed
    )


def test_a_method_of_a_model_that_is_compiled_elsewhere() -> None:
    changed = edited(
        "compiled around it",
        """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Linear(2, 2)

            def forward(self, x):
                y = self.a(x)
                log(y)  # here
                return y.relu()


        net = Net()
        net = torch.compile(net, backend="eager")
        fast = net(x)
        """,
    )
    assert changed is not None
    assert "class Net" in changed and "torch.compile(net" not in changed
    assert changed.count('@torch.compile(backend="eager")') == 1
    assert "def net_forward_1(self, x):\n    y = self.a(x)\n    returned = y.relu()\n" in changed
    assert (
        "        returned, y = net_forward_1(self, x)\n        log(y)  # here\n        return returned\n"
        in changed
    )


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    log(x)  # here\n    return x.sin()\n",  # compiled nowhere
        "@torch.compile\ndef f(x):\n    log(x)  # here\n",  # nothing left to compile
        "@torch.compile\ndef f(x):\n    y = x.sin()\n    log(y)  # here\n    yield y.cos()\n",
        "@torch.compile\nasync def f(x):\n    y = x.sin()\n    log(y)  # here\n",
        "@torch.compile\ndef f(x):\n    global y\n    y = x.sin()\n    log(y)  # here\n",
        "def g():\n    def f(x):\n        y = x.sin()\n        log(y)  # here\n    return torch.compile(f)\n",
        # which may have no value:
        "@torch.compile\ndef f(x):\n    if x:\n        y = 1\n    log(x)  # here\n    return y + 1\n",
        # of which there are two
        "def f(x):\n    y = x + 1\n    log(x)  # here\ng = torch.compile(f)\nh = torch.compile(f)\n",
        # called as it is, too
        "def f(x):\n    y = x + 1\n    log(x)  # here\n    return y\ng = torch.compile(f)\nf(1)\n",
        # another object may have the name
        "class N(M):\n    def forward(self, x):\n        y = x + 1\n        log(x)  # here\n"
        "n = N()\nn = other()\ng = torch.compile(n)\n",
    ],
)
def test_what_cannot_be_divided_is_left(body: str) -> None:
    assert edited("compiled around it", body) is None


def test_a_with_of_what_python_was_left_to_find_is_left_to_it_and_divided_itself() -> None:
    changed = edited(
        "compiled around it",
        """
        @torch.compile
        def f(x, path):
            y = x.sin()
            log = opened(path)  # here
            with log:
                y = y * 2
            return y.cos()
        """,
    )
    assert changed is not None
    assert "    with log:\n        y = f_2(y)\n    return f_3(y)" in changed


def test_a_name_that_gets_a_value_in_some_cases_is_given_too() -> None:
    changed = edited(
        "compiled around it",
        """
        @torch.compile
        def f(x, twice):
            y = x.sin()
            log(y)  # here
            if twice:
                y = y * 2
            log(y)
            return [y for y in (y, x)]
        """,
    )
    assert changed is not None
    assert "    y = f_2(twice, y)\n    return [y for y in (y, x)]" in changed


def test_each_side_of_a_decision_is_compiled_for_any_size() -> None:
    changed = edited(
        "decided outside",
        """
        @torch.compile(dynamic=None, backend="eager")
        def f(x, kind):
            return x.sin() if kind == "a" else (x * 2 if kind == "b" else x)  # here
        """,
    )
    assert changed == text(
        """
        @torch.compile(backend="eager", dynamic=True)
        def f_1(x):
            return x.sin()


        @torch.compile(backend="eager", dynamic=True)
        def f_2(x):
            return x * 2


        def f(x, kind):
            if kind == "a":
                return f_1(x)
            elif kind == "b":
                return f_2(x)
            else:
                return x
        """
    )


def test_what_stands_behind_a_colon_is_compiled_too() -> None:
    body = "@torch.compile\ndef f(x):\n    if len(x) == 5: return x * 2  # here\n    else: raise ValueError\n"
    assert edited("decided outside", body) == (
        "@torch.compile(dynamic=True)\ndef f_1(x):\n    return x * 2\n\n\n"
        "def f(x):\n    if len(x) == 5:\n        return f_1(x)\n    else: raise ValueError\n"
    )


@pytest.mark.parametrize(
    ("line", "name", "first", "rest"),
    [
        (
            "x * (3 if kind in 'ab' else 4)",
            "kind",
            "kind_chosen = (3 if kind in 'ab' else 4)",
            "x * kind_chosen",
        ),
        ("x + self.table[kind]", "kind", "kind_chosen = self.table[kind]", "x + kind_chosen"),
        ("kind(x, 2) + x", "kind", "kind_chosen = kind(x, 2)", "kind_chosen + x"),
    ],
)
def test_what_is_made_of_the_argument_alone_is_made_before(
    line: str, name: str, first: str, rest: str
) -> None:
    body = f"class N:\n    @torch.compile\n    def f(self, x, kind):\n        return {line}  # here\n"
    changed = edited("decided outside", body, name)
    assert changed is not None
    assert f"        {first}\n" in changed
    assert f"    return {rest}  # here\n" in changed


def test_a_statement_before_all_that_is_compiled() -> None:
    body = "@torch.compile\ndef f(x, y=1):\n    return (x + y).sum()  # here\n"
    assert edited("made first", body, "x = x.contiguous()") == (
        "@torch.compile\ndef f_1(x, y):\n    return (x + y).sum()  # here\n\n\n"
        "def f(x, y=1):\n    x = x.contiguous()\n    return f_1(x, y)\n"
    )


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (
            "set at the start",
            "import os\n\nf(1)\ntorch.set_default_dtype(torch.float64)\nf(2)  # here\n",
            "import os\ntorch.set_default_dtype(torch.float64)\n\nf(1)\nf(2)  # here\n",
        ),
        ("set at the start", "torch.set_default_device('cpu')\nf(2)  # here\n", None),
        (
            "set at the start",
            "f(1)\ntorch.set_default_device('cpu')\nf(1)\ntorch.set_default_device('cuda')\nf(2)  # here\n",
            None,
        ),
        (
            "reset removed",
            "@torch.compile\ndef f(x): ...  # here\nfor x in y:\n    torch._dynamo.reset()\n    f(x)\n",
            "@torch.compile\ndef f(x): ...  # here\nfor x in y:\n    f(x)\n",
        ),
        (
            "reset removed",
            "def load(state):\n    m.load_state_dict(state)\n    torch._dynamo.reset()\nf(x)  # here\n",
            "def load(state):\n    m.load_state_dict(state)\nf(x)  # here\n",
        ),
        ("reset removed", "torch._dynamo.reset()\nf(x)  # here\n", None),
        (
            "assert of one condition",
            "assert x.any() and not y.isnan().any(), 'bad'  # here\n",
            "assert torch.logical_and(x.any(), torch.logical_not(y.isnan().any())), 'bad'  # here\n",
        ),
        ("assert of one condition", "assert x.any()  # here\n", None),
        (
            "conditions as one",
            "import torch\nreturned = x.any() and not y.all() or x.max() > 3  # here\n",
            "import torch\nreturned = ((x.any()) & (torch.logical_not(y.all()))) | (x.max() > 3)  # here\n",
        ),
        ("conditions as one", "returned = x.any()  # here\n", None),
        (
            "copied always",
            "y = x if x.data_ptr() % 16 == 0 else x.clone()  # here\n",
            "y = x.clone()  # here\n",
        ),
        (
            "copied always",
            "if x.data_ptr() % 16:  # here\n    x = x.clone()\ny = x\n",
            "x = x.clone()\ny = x\n",
        ),
        ("copied always", "y = x if x.numel() else x.clone()  # here\n", None),
    ],
)
def test_edits_of_statements(edit: str, before: str, after: str | None) -> None:
    assert edited(edit, before) == after


def test_what_an_exception_may_leave_without_a_value_is_given_too() -> None:
    body = """
        @torch.compile
        def f(x):
            y = x.cos()
            log(y)  # here
            with suppress(ValueError):
                y = g(x)
            print("a")
            return y.sin()
        """
    assert "def f_2(x, y):\n    with suppress(ValueError):\n        y = g(x)\n    return y\n" in (
        edited("compiled around it", body) or ""
    )


@pytest.mark.parametrize("line", ["self.seen[kind] = x * 2", "self.seen[kind] += x"])
def test_what_is_stored_under_an_argument_stays_stored(line: str) -> None:
    body = "class N:\n    @torch.compile\n    def f(self, x, kind):\n"
    body += f"        {line}  # here\n        return x + 1\n"
    changed = edited("decided outside", body, "kind")
    assert changed is not None
    assert f"        returned = n_f_1(x)\n        {line}  # here\n        return returned\n" in changed


def test_a_docstring_stays_first() -> None:
    body = '@torch.compile\ndef f(x):\n    """Doc."""\n    return x * 2  # here\n'
    changed = edited("made first", body, "x = x.contiguous()")
    assert changed is not None
    assert 'def f(x):\n    """Doc."""\n    x = x.contiguous()\n' in changed


HELPER = """
    class Model(torch.nn.Module):
        def looked_up(self, x):
            y = x.sin()
            found = table(y)  # here
            return found.cos()

        def forward(self, x):
            x = x * 2
            return (x + self.looked_up(x)).sum()


    model = torch.compile(Model().eval())
"""


def test_a_method_that_a_compiled_one_calls_is_divided_with_it() -> None:
    assert edited("compiled around it", HELPER) == text(
        """
        @torch.compile
        def model_forward_1(x):
            return x * 2


        @torch.compile
        def model_forward_2(looked_up_chosen, x):
            return (x + looked_up_chosen).sum()


        @torch.compile
        def model_looked_up_1(x):
            return x.sin()


        @torch.compile
        def model_looked_up_2(found):
            return found.cos()


        class Model(torch.nn.Module):
            def looked_up(self, x):
                y = model_looked_up_1(x)
                found = table(y)  # here
                return model_looked_up_2(found)

            def forward(self, x):
                x = model_forward_1(x)
                looked_up_chosen = self.looked_up(x)
                return model_forward_2(looked_up_chosen, x)


        model = Model().eval()
        """
    )


def test_a_method_that_is_called_twice_is_left() -> None:
    twice = HELPER.replace("(x + self.looked_up(x))", "(self.looked_up(x) + self.looked_up(x))")
    assert edited("compiled around it", twice) is None


@pytest.mark.parametrize("made", ["trainer.step", "Trainer().step"])
def test_a_bound_method_that_is_compiled(made: str) -> None:
    program = f"{_TRAINER}\ntrainer = Trainer()\nstep = torch.compile({made}, dynamic=True)\n"
    changed = edited("compiled around it", program)
    assert changed is not None and changed.endswith(f"\nstep = {made}\n")
    assert "@torch.compile(dynamic=True)\ndef trainer_step_1(x):\n    y = x.sin()\n" in changed


def test_a_bound_method_of_what_may_be_another_object_is_left() -> None:
    program = f"{_TRAINER}\ntrainer = Trainer()\ntrainer = other()\nstep = torch.compile(trainer.step)\n"
    assert edited("compiled around it", program) is None


def test_a_method_that_its_own_class_compiles() -> None:
    fit = "    def fit(self, x):\n        step = torch.compile(self.step)\n        return step(x)\n"
    changed = edited("compiled around it", f"{_TRAINER}\n{fit}")
    assert changed is not None and "        step = self.step\n" in changed
    assert "    def step(self, x):\n        returned, y = trainer_step_1(x)\n" in changed


_TRAINER = """
class Trainer:
    def step(self, x):
        y = x.sin()
        log(y)  # here
        return y + sum(x * each for each in range(2))
"""


@pytest.mark.parametrize("first", ["k = k.view_as(k)", "k = float(k)"])
def test_what_differs_where_a_function_begins_is_made_first_in_it(first: str) -> None:
    changed = edited(
        "made first",
        """
        @torch.compile
        def attend(q, k):  # here
            return q.sin() @ k
        """,
        first,
    )
    assert changed is not None
    assert f"def attend(q, k):  # here\n    {first}\n    return attend_1(k, q)" in changed


def test_a_function_that_is_decorated_inside_of_another_has_its_parts_beside_it() -> None:
    changed = edited(
        "compiled around it",
        """
        def main():
            @torch.compile
            def step(x):
                y = x * scale
                report(y)  # here
                return y

            scale = 2
            return step(x)
        """,
    )
    assert changed is not None and changed.count("    @torch.compile\n    def step_1(x):") == 1
    assert "y = step_1(x)\n        report(y)" in changed
