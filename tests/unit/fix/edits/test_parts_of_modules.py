"""What leads to the line that is left to Python: the `forward` of a module, and what a `with` calls."""

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
