"""What leads to the line that is left to Python: the `forward` of a module, and what a `with` calls."""

import pytest

from support.edited_text import edited

CONTEXT = """
class timed:
    def __enter__(self):
        self.begin = clock()  # here

    def __exit__(self, *error):
        timed.seconds = clock() - self.begin

@torch.compile
def step(x):
    x = x * 2
    with timed():
        y = x.sin()
    return y + 1
"""


def test_what_a_with_calls_is_left_to_python_with_it() -> None:
    changed = edited("compiled around it", CONTEXT) or ""
    divided = "x = step_1(x)\n    with timed():\n        y = step_2(x)\n    return step_3(y)\n"
    assert divided in changed
    function = CONTEXT.replace("    with timed():", "    with watch():") + (
        "@contextmanager\ndef watch():\n    begin = clock()  # here\n    yield\n    print(clock() - begin)\n"
    )
    changed = edited("compiled around it", function.replace("self.begin = clock()  # here", "pass")) or ""
    assert divided.replace("timed", "watch") in changed


MODULE = """
class Part(torch.nn.Module):
    def forward(self, x):
        y = x.sin()
        found = table(y)  # here
        return found.cos()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        x = x * 2
        x = self.part(x)
        return x + 1

model = torch.compile(Model())
"""


def test_the_forward_of_the_only_module_is_divided_with_what_calls_it() -> None:
    changed = edited("compiled around it", MODULE) or ""
    assert "x = model_forward_1(x)\n        x = self.part(x)\n        return model_forward_2(x)" in changed
    assert (
        "y = part_forward_1(x)\n        found = table(y)  # here\n        return part_forward_2(found)"
        in changed
    )
    listed = MODULE.replace(
        "self.part = Part()", "self.parts = torch.nn.ModuleList(Part() for _ in range(2))"
    )
    loop = "for part in self.parts:\n            x = part(x)"
    changed = edited("compiled around it", listed.replace("x = self.part(x)", loop)) or ""
    assert loop in changed and "part_forward_2(found)" in changed
    twice = MODULE.replace("self.part = Part()", "self.part, self.other = Part(), Part()")
    assert edited("compiled around it", twice) is None
    whole = MODULE.replace("y = x.sin()", "y = locals()['x']")  # which cannot be moved to another function
    assert edited("compiled around it", whole) is None


def test_a_function_that_cannot_be_divided_is_left_to_python_as_a_whole() -> None:
    whole = MODULE.replace("y = x.sin()", "y = locals()['x']")
    changed = edited("compiled around its function", whole) or ""
    assert "x = self.part(x)\n        return model_forward_2(x)" in changed
    assert "y = locals()['x']\n        found = table(y)  # here\n        return found.cos()" in changed
    assert edited("compiled around its function", "def f(x):\n    return table(x)  # here\n") is None


def test_what_the_call_is_given_is_compiled_before_it() -> None:
    given = MODULE.replace("x = self.part(x)", "x = self.part(x.exp()).abs()").replace(
        "self.part = Part()", "self.part, self.other = Part(), torch.nn.ReLU()"
    )
    changed = edited("compiled around it", given) or ""
    assert "part_given_1 = model_forward_1(x)\n        part_chosen = self.part(part_given_1)\n" in changed
    assert "return model_forward_2(part_chosen)" in changed
    callable_object = MODULE.replace("(torch.nn.Module):\n    def forward", ":\n    def __call__", 1)
    assert "part_call_1(x)" in (edited("compiled around it", callable_object) or "")


def test_what_a_value_is_taken_of_is_compiled_before_it() -> None:
    taken = "@torch.compile\ndef f(x):\n    n = names[x.sum().item()]  # here\n    return x * table(n)\n"
    changed = edited("compiled around it", taken) or ""
    assert "value_given = f_1(x)\n    n = names[value_given.item()]  # here\n    return f_2(n, x)" in changed


def test_a_generator_that_is_used_up_at_once_sees_no_later_values() -> None:
    used_up = MODULE.replace("return x + 1", "return sum(x + each for each in (1, 2))")
    assert "part_forward_2(found)" in (edited("compiled around it", used_up) or "")
    kept = MODULE.replace("return x + 1", "return kept(x + each for each in (1, 2))")
    assert edited("compiled around it", kept) is None


@pytest.mark.parametrize(
    ("made", "is_known"),
    [("Model(part)", True), ("Model(2, part)", False), ("Model(part=part)", True), ("Model(other)", False)],
)
def test_the_only_call_of_an_object_that_a_model_is_given_is_known(made: str, is_known: bool) -> None:
    given = MODULE.replace("def __init__(self)", "def __init__(self, part)").replace("= Part()", "= part")
    whole = given.replace("model = torch.compile(Model())", f"part = Part()\nmodel = torch.compile({made})")
    changed = edited("compiled around its function", whole)
    assert ("self.part(x)\n        return model_forward_2(x)" in (changed or "")) is is_known


SERVER = """
class Model(torch.nn.Module):
    def forward(self, x):
        x = x * 2
        found = table(x)  # here
        return found + 1

class Server:
    def __init__(self, model):
        self.model = torch.compile(model)
"""


@pytest.mark.parametrize(
    ("made", "is_known"),
    [
        ("server = Server(Model().eval())\n", True),
        ("model = Model()\nserver = Server(model=model)\n", True),
        ("def serve(net):\n    return Server(net)\n\nserve(Model())\n", True),
        ("one, two = Server(Model()), Server(Other())\n", False),
        ("server = Server(*parts)\n", False),
        ("server = Server(other())\n", False),
    ],
)
def test_a_model_that_is_given_to_what_compiles_it_is_known(made: str, is_known: bool) -> None:
    changed = edited("compiled around it", f"{SERVER}\n{made}") or ""
    assert ("found = table(x)  # here" in changed and "self.model = model\n" in changed) is is_known


LOGGING = """
class Trainer:
    def log(self, value):
        names = inspect.getfullargspec(self.step).args
        if "rows" in names:
            raise RuntimeError(names)
        self.seen.append(float(value))  # here

    @torch.compile
    def step(self, x):
        loss = x.sin().sum()
        self.log(loss)
        return loss * 2
"""


def test_of_what_is_called_nothing_is_compiled_that_gives_no_value() -> None:
    changed = edited("compiled around it", LOGGING) or ""
    assert changed.count("@torch.compile") == 1 and "def trainer_step_1(x):" in changed
    assert 'names = inspect.getfullargspec(self.step).args\n        if "rows" in names:' in changed
    gives = LOGGING.replace("float(value)", "float(value), y").replace(
        "        names", "        y = value.exp()\n        names", 1
    )
    changed = edited("compiled around it", gives) or ""
    assert "def trainer_log_1(" in changed and "y = trainer_log_1(" in changed


KEPT_BOXES = """
def overlap(a, b):
    return (a * b).sum()

def shown(x):
    return x + 1

def kept(x):
    found = []
    while len(x):
        found.append(overlap(x[0], shown(x)))
        x = x[x > found[-1]]  # here
    return found

class Detector(torch.nn.Module):
    def forward(self, image):
        x = image.sin()
        found = kept(x)
        return found, shown(x) * 2

detector = torch.compile(Detector(), dynamic=True)
"""
LEFT = "compiled around its function, and what that calls"


def test_what_only_the_function_left_to_python_calls_is_compiled_by_itself() -> None:
    changed = edited(LEFT, KEPT_BOXES) or ""
    assert changed.startswith("@torch.compile(dynamic=True)\ndef overlap(a, b):\n")
    assert "\n\ndef shown(x):\n" in changed  # another one calls it too
    assert "\n\ndef kept(x):\n    found = []\n    while len(x):\n" in changed
    assert "found = kept(x)\n" in changed and changed.count("@torch.compile") == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def overlap(", "@cached\ndef overlap("),  # has a decorator, of which nothing is known
        ("shown(x)))", "shown(x)))\n        table[0] = overlap"),  # handed on
        ("dynamic=True", "backend=mine"),  # what it names may come later in the file
        ("return (a * b).sum()", "return a"),
    ],
)
def test_what_is_called_stays_as_it_is_where_it_is_not_plain(before: str, after: str) -> None:
    body = KEPT_BOXES.replace(before, after)
    assert edited(LEFT, body) == edited("compiled around its function", body) is not None
