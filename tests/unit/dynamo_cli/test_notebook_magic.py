"""`%%dynamo` marks a cell: what IPython is given to run instead; and the package that `%load_ext` names."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")

from dynamo_cli.notebook import _mark_cell
from support.places import REPOSITORY

_BEGIN = "get_ipython().run_line_magic('dynamo_begin_cell', '{}')\n"


@pytest.mark.parametrize(
    ("cell", "run"),
    [
        ("%%dynamo\nx = 1\ny = 2\n", _BEGIN.format("") + "x = 1\ny = 2\n"),
        ("%%dynamo graphs\nx\n", _BEGIN.format("graphs") + "x\n"),
        ("%%dynamo\n%%time\nx\n", _BEGIN.format("") + "get_ipython().run_cell_magic('time', '', 'x\\n')\n"),
        ("%%dynamos\nx\n", None),
        ("x = 1\n%%dynamo\n", None),
        ("%%dynamo\n", None),
        ("%%dynamo?\n", None),
        ("", None),
    ],
)
def test_the_line_of_the_magic_is_a_call_and_the_others_keep_their_places(cell: str, run: str | None) -> None:
    assert "".join(_mark_cell(cell.splitlines(keepends=True))) == (cell if run is None else run)


def test_the_package_of_the_extension_leaves_nvidias_to_be_found(tmp_path: Path) -> None:
    """`dynamo` of NVIDIA Dynamo is a namespace package, before ours on the path or behind it."""
    (tmp_path / "dynamo").mkdir()
    (tmp_path / "dynamo" / "llm.py").write_text("NAME = 'of another'\n")
    code = "import dynamo, dynamo.llm; print(dynamo.llm.NAME, dynamo.load_ipython_extension.__name__)"
    ours = REPOSITORY / "core"
    for path in (f"{tmp_path}:{ours}", f"{ours}:{tmp_path}"):
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True
        )
        assert done.stdout == "of another load_ipython_extension\n", done.stderr
