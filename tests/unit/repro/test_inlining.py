"""A script of several files as one text, which does what they do."""

import contextlib
import io
import sys
from pathlib import Path

import pytest

from dynamo_core.repro.inlining import with_modules_inlined

MODULES = {
    "layers.py": '''"""Layers."""
from __future__ import annotations

import math

from shapes import area as size, count

scale = 2.0
calls = 0


class Layer:
    scale = 3

    def __init__(self, size):
        self.size = size

    def forward(self, x):
        return self.area(x) * scale + Layer.scale

    def area(self, x):
        global calls
        calls += 1
        return size(x, self.size)


def first(scale, *, count=1):
    return [math.floor(scale) for scale in (scale, count)]


async def last():
    return scale


if __name__ == "__main__":
    raise SystemExit("not the script")
''',
    "shapes.py": """
count = 7


def area(width, height=1):
    return width * height + count
""",
    "tools/names.py": """
def greet(name):
    return f"hello {name}"
""",
}
SCRIPT = """
import math
import layers
from layers import Layer, first as one
from tools import names

scale = 100


def main():
    from shapes import area
    layer = Layer(4)
    print(layer.forward(2), area(1), one(5.5, count=3), layers.first(1), math.pi > 3)
    try:
        layers.last().send(None)
    except StopIteration as ended:
        print(ended.value)
    print(layers.calls, scale, layers.scale, layers.count, names.greet("you"))


main()
"""


def printed(text: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "<script>", "exec"), {"__name__": "__main__"})
    return output.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_it_does_the_same_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = with_modules_inlined(SCRIPT, [str(folder)])
    assert alone is not None
    assert alone.count("import math") == 1
    answer = printed(alone)
    monkeypatch.syspath_prepend(str(folder))
    with_modules = printed(SCRIPT)
    for name in ("layers", "shapes", "tools.names", "tools"):
        sys.modules.pop(name)
    assert answer == with_modules


@pytest.mark.parametrize(
    "script",
    [
        "from layers import *",
        "import layers\nprint(layers)",
        "import tools.names\nprint(tools.names.greet(1))",
        "from . import layers",
    ],
)
def test_what_cannot_be_written_into_it_is_left(script: str, folder: Path) -> None:
    assert with_modules_inlined(script, [str(folder)]) is None


def test_a_script_without_modules_of_its_own_is_left(folder: Path) -> None:
    assert with_modules_inlined("import torch, math\nprint(math.pi)", [str(folder)]) is None
