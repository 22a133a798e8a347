"""The edits of `dynamo fix`: what they make of a line, what they leave alone, and what stays as it is."""

import textwrap

import pytest

from dynamo_core.fix.edits import EDITS
from dynamo_core.fix.edits.settings import with_arguments, with_environment, with_settings
from dynamo_core.remedies.rules import Assignment


def edited(edit: str, text: str) -> str | None:
    """The body behind `import torch`, edited on the line that ends in `# here`."""
    source = "import torch\n" + textwrap.dedent(text).lstrip("\n")
    (line,) = (n for n, each in enumerate(source.splitlines(), 1) if each.rstrip().endswith("# here"))
    changed = EDITS[edit](source, line)
    return None if changed is None else changed.removeprefix("import torch\n")


def text(body: str) -> str:
    return textwrap.dedent(body).lstrip("\n")


def test_a_branch_becomes_where_and_comments_stay() -> None:
    changed = edited(
        "branch to where",
        """
        def f(x):
            # why
            if x.sum() > 0:  # here
                x = x * 2
            return x  # what is left
        """,
    )
    assert changed == text(
        """
        def f(x):
            # why
            x = torch.where(x.sum() > 0, x * 2, x)
            return x  # what is left
        """
    )


def test_both_sides_of_a_branch_and_of_a_return() -> None:
    assert "y = torch.where(x.any(), x + (1 - a), x - 1)" in (
        edited(
            "branch to where",
            """
            if x.any():  # here
                y = x + (1 - a)
            else:
                y = x - 1
            """,
        )
        or ""
    )
    changed = edited(
        "branch to where",
        """
        def f(x, y):
            if x.max() > 3 and not y.item():  # here
                return x
            return y
        """,
    )
    assert changed == text(
        """
        def f(x, y):
            return torch.where(torch.logical_and(x.max() > 3, torch.logical_not((y) != 0)), x, y)
        """
    )


def test_what_a_branch_asks_of_python_first_stays_an_if_and_its_own_names_go() -> None:
    changed = edited(
        "branch to where",
        """
        def f(x, mask=None):
            if mask is not None and x.max() > 1:  # here
                limit = x.mean()
                x = x.clamp(max=limit + 1)
            return x
        """,
    )
    assert changed == text(
        """
        def f(x, mask=None):
            if mask is not None:
                x = torch.where(x.max() > 1, x.clamp(max=(x.mean()) + 1), x)
            return x
        """
    )
    returned = "def f(x, on):\n    if on and x.any():  # here\n        return x * 2\n    return x\n"
    assert edited("branch to where", returned) == (
        "def f(x, on):\n    if on:\n        return torch.where(x.any(), x * 2, x)\n    return x\n"
    )
    with_else = (
        "def f(x, on):\n    if on and x.any():  # here\n        x = -x\n    else:\n        x = x + 1\n"
    )
    assert edited("branch to where", with_else) is None


def test_an_augmented_assignment_is_one_of_the_whole() -> None:
    changed = edited("branch to where", "if x.mean() > 0:  # here\n    x *= a + b\n")
    assert changed == "x = torch.where(x.mean() > 0, x * (a + b), x)\n"


def test_an_attribute_of_self_is_chosen_in_the_graph_too() -> None:
    changed = edited("branch to where", "if x.sum() > 0:  # here\n    self.scale = self.scale / 2\n")
    assert changed == "self.scale = torch.where(x.sum() > 0, self.scale / 2, self.scale)\n"


def test_a_conditional_expression_becomes_where() -> None:
    assert edited("branch to where", "y = f(a if x.sum() else b)  # here\n") == (
        "y = f(torch.where((x.sum()) != 0, a, b))  # here\n"
    )


def test_a_value_that_is_only_compared_stays_a_tensor() -> None:
    changed = edited("branch to where", "if x.sum().item() > 0:  # here\n    x = x + 1\n")
    assert changed == "x = torch.where(x.sum() > 0, x + 1, x)\n"


@pytest.mark.parametrize(
    "branch",
    [
        "if x.sum() > 0:  # here\n    print(x)\n",
        "if x.sum() > 0:  # here\n    x.data = x + 1\n",
        "if x.sum() > 0:  # here\n    self.a.b = x + 1\n",
        "if x.sum() > 0:  # here\n    self.a = x + 1\n    y = self.a\n",
        "if x.sum() > 0:  # here\n    x[0] = 1\n",
        "if x.sum() > 0:  # here\n    x = x + 1\n    y = x * 2\n",
        "if x.sum() > 0:  # here\n    x = 1\nelif x.sum() < 3:\n    x = 2\n",
        "if (n := x.sum()) > 0:  # here\n    x = x * n\n",
        "while x.sum() > 0:  # here\n    x = x - 1\n",
        "def f(x):\n    if x.sum() > 0:  # here\n        return x\n    y = x\n    return y\n",
    ],
)
def test_a_branch_that_does_more_is_left_alone(branch: str) -> None:
    assert edited("branch to where", branch) is None


def test_what_cannot_stand_in_a_call_is_said_as_what_cannot_be_parsed() -> None:
    with pytest.raises(ValueError, match="cannot parse it"):
        edited("branch to where", "def f(x):\n    if x.sum() > 0:  # here\n        x = yield x\n")


def test_without_torch_by_its_name_there_is_no_where() -> None:
    assert EDITS["branch to where"]("import torch as t\nif x.sum():\n    x = x + 1\n", 2) is None


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        ("item kept a tensor", "y = x * x.sum().item()  # here\n", "y = x * x.sum()  # here\n"),
        ("item kept a tensor", "y = x * x.sum()  # here\n", None),
        ("deepcopy to clone", "y = copy.deepcopy(x) + 1  # here\n", "y = x.clone() + 1  # here\n"),
        ("deepcopy to clone", "y = list(x)  # here\n", None),
        (
            "assert with a constant message",
            'assert x > 0, f"bad: {x} of {y}"  # here\n',
            "assert x > 0, 'bad: of'  # here\n",
        ),
        ("assert with a constant message", "assert x > 0  # here\n", None),
        (
            "numpy to torch",
            "y = torch.from_numpy(np.sin(x.detach().cpu().numpy())) * 2  # here\n",
            "y = torch.sin(x.detach()) * 2  # here\n",
        ),
        ("numpy to torch", "y = np.percentile(a, 3)  # here\n", None),
        ("numpy to torch", "y = 2 * math.exp(-x.item())  # here\n", "y = 2 * torch.exp(-x)  # here\n"),
        ("numpy to torch", "y = math.comb(x.item(), 2)  # here\n", None),
        ("index kept a tensor", "y = a.b[t] + c[0]  # here\n", "y = a.b[t.reshape(1)][0] + c[0]  # here\n"),
        ("index kept a tensor", "y = a[t] + b[t]  # here\n", None),
        ("index kept a tensor", "a[t] = x  # here\n", None),
        (
            "numpy to math",
            "import math\ny = int(np.ceil(x.shape[0] / np.sqrt(n)))  # here\n",
            "import math\ny = int(math.ceil(x.shape[0] / math.sqrt(n)))  # here\n",
        ),
        ("numpy to math", "y = np.maximum(x.shape[0], 3)  # here\n", None),
        (
            "attribute by its dictionary",
            'class A:\n    def f(self):\n        return object.__getattribute__(self, "_a")  # here\n'
            '    def g(self):\n        return object.__getattribute__(self, "_b") + object.f(self)\n',
            'class A:\n    def f(self):\n        return self.__dict__["_a"]  # here\n'
            '    def g(self):\n        return self.__dict__["_b"] + object.f(self)\n',
        ),
        (
            "default device of a tensor",
            "import torch\ny = torch.zeros(3, device=torch.get_default_device())  # here\n",
            "import torch\ny = torch.zeros(3, device=torch.empty(0).device)  # here\n",
        ),
        (
            "compile hoisted",
            "import torch\nfor b in blocks:\n    f(torch.compile(b, backend=made(b.p)))  # here\n",
            None,
        ),
        (
            "compile hoisted",
            "import torch\nfor b in blocks:\n    f(torch.compile(b, backend=made(p)))  # here\n",
            "import torch\none_backend = made(p)\nfor b in blocks:\n"
            "    f(torch.compile(b, backend=one_backend))  # here\n",
        ),
        ("attribute by its dictionary", "object.__getattribute__(self, '_a')  # here\n", None),
        (
            "data_ptr to is",
            "if a.data_ptr() == b.c.data_ptr():  # here\n    a()\n",
            "if a is b.c:  # here\n    a()\n",
        ),
        ("data_ptr to is", "y = a.data_ptr() != b.data_ptr()  # here\n", "y = a is not b  # here\n"),
        ("data_ptr to is", "y = a.data_ptr() == 3  # here\n", None),
        (
            "parameter left out",
            "y = nn.Parameter(torch.zeros(b, 3), requires_grad=False)  # here\n",
            "y = torch.zeros(b, 3)  # here\n",
        ),
        (
            "parameter left out",
            "y = Parameter(x[0], requires_grad=False)  # here\n",
            "y = x[0].detach()  # here\n",
        ),
        ("parameter left out", "y = nn.Parameter(x)  # here\n", None),
        ("parameter left out", "y = nn.Parameter(x, requires_grad=flag)  # here\n", None),
        (
            "mask declared causal",
            "def f(x):\n    m = T.generate_square_subsequent_mask(3)\n    return d(x, mask=m)  # here\n",
            "def f(x):\n    m = T.generate_square_subsequent_mask(3)\n"
            "    return d(x, mask=m, is_causal=True)  # here\n",
        ),
        ("mask declared causal", "def f(x, m):\n    return d(x, mask=m)  # here\n", None),
        (
            "decorator removed",
            "@torch.compiler.disable\n@g\ndef f(x): ...\ny = f(1)  # here\n",
            "@g\ndef f(x): ...\ny = f(1)  # here\n",
        ),
        ("decorator removed", "@g\ndef f(x): ...\ny = f(1)  # here\n", None),
        (
            "compiled in place",
            "import torch\nself = torch.compile(self, backend=b)  # here\n",
            "import torch\nself.compile(backend=b)  # here\n",
        ),
        (
            "compiled in place",
            "import torch\na.net = torch.compile(a.net)  # here\n",
            "import torch\na.net.compile()  # here\n",
        ),
        (
            "compiled in place",
            "import torch\ntorch.compile(part, backend=b)  # here\n",
            "import torch\npart.compile(backend=b)  # here\n",
        ),
        ("compiled in place", "import torch\nfast = torch.compile(net)  # here\n", None),
        (
            "called methods compiled",
            "import torch\nclass Net:\n    def act(self, x): ...\n    def rest(self, x): ...\n"
            "def main(): ...\nnet = torch.compile(Net(), dynamic=True)  # here\nnet.act(x)\n",
            "import torch\nclass Net:\n    def act(self, x): ...\n    def rest(self, x): ...\n"
            "def main(): ...\n"
            "net = Net()  # here\nnet.act = torch.compile(net.act, dynamic=True)\nnet.act(x)\n",
        ),
        ("called methods compiled", "import torch\nnet = torch.compile(Net())  # here\nnet.act(x)\n", None),
        (
            "called methods compiled",
            "import torch\nclass Net:\n    def act(self, x): ...\n    def rest(self, x):\n"
            "        self.act(x)\n\nnet = torch.compile(Net().eval())  # here\nServer(net).net.rest(x)\n",
            "import torch\nclass Net:\n    def act(self, x): ...\n    def rest(self, x):\n"
            "        self.act(x)\n\nnet = Net().eval()  # here\nnet.rest = torch.compile(net.rest)\n"
            "Server(net).net.rest(x)\n",
        ),
        (
            "called methods compiled",
            "import torch\nclass Net:\n    def act(self, x): ...\nclass Other:\n    def act(self, x): ...\n"
            "net = torch.compile(Net())  # here\nServer(net).net.act(x)\n",
            None,
        ),
        ("compiled in place", "import torch\nnet = torch.compile(Net())  # here\n", None),
        ("compiled in place", "import torch\nnet = torch.compile(model=net)  # here\n", None),
        ("statement removed", "a()\nprint(x)  # here\nb()\n", "a()\nb()\n"),
        ("statement removed", "y = print(x)  # here\n", None),
        ("statement removed", "if a:\n    print(x)  # here\n", "if a:\n    pass  # here\n"),
    ],
)
def test_edits_of_one_line(edit: str, before: str, after: str | None) -> None:
    assert edited(edit, before) == after


@pytest.mark.parametrize(
    ("made", "branch", "set_to", "after"),
    [
        ("torch.tensor([False])", "not self.ready", "self.ready.fill_(True)", ("False", "self.ready = True")),
        ("torch.tensor(0)", "self.ready.item() == 0", "self.ready[0] = 1", ("0", "self.ready = 1")),
        ("torch.zeros(1)", "bool(self.ready)", "self.ready.copy_(torch.ones(1))", ("0", "self.ready = 1")),
    ],
)
def test_a_flag_in_a_tensor_becomes_a_value_of_pythons(
    made: str, branch: str, set_to: str, after: tuple[str, str]
) -> None:
    def program(made: str, branch: str, set_to: str) -> str:
        return text(
            f"""
            class Net:
                def __init__(self):
                    {made}

                def forward(self, x):
                    if {branch}:  # here
                        {set_to}
                    return x
            """
        )

    before = program(f'self.register_buffer("ready", {made})', branch, set_to)
    asked = branch.replace(".item()", "")
    assert edited("flag kept in Python", before) == program(f"self.ready = {after[0]}", asked, after[1])
    elsewhere = program("pass", "self.ready > x", "pass")
    assert edited("flag kept in Python", elsewhere) is None


def test_fields_are_taken_without_a_copy() -> None:
    changed = edited("asdict to fields", "y = dataclasses.asdict(out)['x']  # here\n")
    assert changed == "y = {f.name: getattr(out, f.name) for f in dataclasses.fields(out)}['x']  # here\n"
    assert edited("asdict to fields", "y = asdict(out)  # here\n") is None
    assert edited("asdict to fields", "y = dataclasses.asdict(out, dict_factory=f)  # here\n") is None


def test_compile_goes_before_the_loop() -> None:
    changed = edited(
        "compile hoisted",
        """
        # all of it
        for x in xs:
            g = torch.compile(f, backend="eager")  # here
            print(g(x))
        """,
    )
    assert changed == text(
        """
        # all of it
        g = torch.compile(f, backend="eager")
        for x in xs:
            print(g(x))
        """
    )


def test_a_backend_made_on_the_spot_goes_with_it() -> None:
    body = "for x in xs:\n    g = torch.compile(f, backend=lambda gm, inputs: gm)  # here\n    print(g(x))\n"
    moved = "g = torch.compile(f, backend=lambda gm, inputs: gm)\nfor x in xs:\n    print(g(x))\n"
    assert edited("compile hoisted", body) == moved


def test_compile_in_a_function_gets_a_name_beside_it() -> None:
    changed = edited(
        "compile hoisted",
        """
        def step(x):
            return torch.compile(model)(x)  # here
        """,
    )
    assert changed is not None
    assert "compiled_model = torch.compile(model)\n" in changed
    assert "return compiled_model(x)" in changed
    assert changed.index("compiled_model =") < changed.index("def step")


@pytest.mark.parametrize(
    "body",
    [
        "for f in fs:\n    g = torch.compile(f)  # here\n    g(x)\n",
        "def step(f, x):\n    return torch.compile(f)(x)  # here\n",
        "g = torch.compile(f)  # here\n",
    ],
)
def test_compile_stays_where_it_depends_on_what_is_around_it(body: str) -> None:
    assert edited("compile hoisted", body) is None


def test_settings_stand_behind_the_import_of_torch_and_variables_before_it() -> None:
    source = '"""Doc."""\nimport os\n# torch\nimport torch\n\nx = 1\n'
    setting = [Assignment("torch._dynamo.config.recompile_limit", "64"), Assignment("a.b+", "print")]
    assert with_settings(source, setting) == source.replace(
        "import torch\n", "import torch\ntorch._dynamo.config.recompile_limit = 64\na.b.add(print)\n"
    )
    variable = [Assignment("X", "L['k']")]
    assert with_environment(source, variable) == source.replace(
        "# torch\nimport torch\n", "# torch\nos.environ.setdefault('X', \"L['k']\")\nimport torch\n"
    )
    assert with_settings("import numpy\n", setting) is None
    for unnamed in ("from torch import nn\n", "import torch as t\n"):
        assert (with_settings(unnamed, setting) or "").startswith(f"{unnamed}import torch\ntorch.")
    assert (with_settings("import torch.nn\n", setting) or "").startswith("import torch.nn\ntorch.")
    assert "import os\n" in (with_environment("from torch import nn\n", variable) or "")


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("@torch.compile\ndef f(): ...\n", "@torch.compile(dynamic=True)\ndef f(): ...\n"),
        ("f = torch.compile(f, dynamic=False)\n", "f = torch.compile(f, dynamic=True)\n"),
        ("f = torch.compile(f)\n", "f = torch.compile(f, dynamic=True)\n"),
        (
            "f = torch.compile(f, mode=m, dynamic=False, **self.given)\n",
            'f = torch.compile(f, mode=m, **{**self.given, "dynamic": True})\n',
        ),
        ("f = torch.compile(f, **given)\n", 'f = torch.compile(f, **{**given, "dynamic": True})\n'),
        ("f = g(f)\n", None),
    ],
)
def test_an_argument_of_torch_compile(call: str, after: str | None) -> None:
    assert with_arguments(call, 1, [Assignment("dynamic", "True")]) == after


def test_a_name_of_a_backend_is_a_string() -> None:
    changed = with_arguments("f = torch.compile(f, backend=mine)\n", 1, [Assignment("backend", "aot_eager")])
    assert changed == "f = torch.compile(f, backend='aot_eager')\n"


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_no_python_is_said_and_a_line_that_is_not_there_is_left(edit: str) -> None:
    with pytest.raises(ValueError, match="cannot parse"):
        EDITS[edit]("def (:\n", 1)
    assert EDITS[edit]("import torch\nx = 1\n", 99) is None


WITH_CLOCK = """
@torch.compile
def f(x, n=1):
    start = time.time()  # here
    return x * start

g = torch.compile(f)
print(f(1), g(2))
"""


def test_a_call_that_has_nothing_to_do_with_the_function_is_made_by_its_callers() -> None:
    changed = edited("call moved out", WITH_CLOCK)
    assert changed is not None
    assert "def f(x, n=1, *, start_given):\n    start = start_given  # here\n" in changed
    assert "print(f(1, start_given=time.time()), g(2, start_given=time.time()))" in changed


def test_parameters_of_a_moved_call_are_what_the_callers_give() -> None:
    keyed = """
@torch.compile
def f(x, settings):
    key = json.dumps(settings)  # here
    return x * len(key)

print(f(1, {"width": 3}), f(2, settings=known))
"""
    changed = edited("call moved out", keyed)
    assert changed is not None
    assert 'f(1, {"width": 3}, key_given=json.dumps({"width": 3}))' in changed
    assert "f(2, settings=known, key_given=json.dumps(known))" in changed
    assert edited("call moved out", keyed.replace("known", "read()")) is None
    assert edited("call moved out", keyed.replace("dumps(settings)", "dumps(settings=settings)")) is None
    assert edited("call moved out", keyed.replace("    key", "    settings = 1\n    key")) is None


def test_a_statement_stands_in_front_of_the_call() -> None:
    collects = WITH_CLOCK.replace("start = time.time()", "gc.collect()").replace("f(1), ", "")
    changed = edited("statement moved out", collects)
    assert changed is not None
    assert "def f(x, n=1):\n    return x * start\n" in changed
    assert "\ngc.collect()\nprint(g(2))\n" in changed


@pytest.mark.parametrize(
    "change",
    [
        ("time.time()", "now(x + start)"),  # which the function makes
        ("time.time()", "torch.rand(2)"),
        ("print(f(1)", "h(f); print(f(1)"),  # handed around
        ("def f(x, n=1)", "def f(x, **n)"),
        ("print(f(1), g(2))", ""),  # never called here
        ("start = time.time()", "start = [time.time() for _ in range(2)]"),  # each time another
    ],
)
def test_a_call_that_cannot_be_moved_is_left(change: tuple[str, str]) -> None:
    assert edited("call moved out", WITH_CLOCK.replace(*change)) is None
