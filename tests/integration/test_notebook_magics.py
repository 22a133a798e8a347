"""`%load_ext dynamo` in a kernel: `%%dynamo` and `%dynamo REPORT`, and the notebook of the docs."""

import re
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from support.torch_version import TORCH

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

_SCORE = (
    "import torch\n@torch.compile(backend='eager')\ndef score(x):\n    y = x.sin()\n"
    "    if y.sum() > 0:\n        y = y * 2\n    return y"
)


def _executed(notebook: Any, folder: Path, environment: dict[str, str]) -> Any:
    """The notebook with the outputs of a new kernel, whose working directory is `folder`."""
    client = nbclient.NotebookClient(
        notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=environment | {"IPYTHONDIR": str(folder / "ipython")})
    return notebook


def _of_cells(folder: Path, environment: dict[str, str], *cells: str) -> list[list[Any]]:
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    return [cell.outputs for cell in _executed(notebook, folder, environment).cells]


def _text(outputs: list[Any]) -> str:
    """What the outputs say as text."""
    texts = (each.text if "text" in each else each.get("data", {}).get("text/plain", "") for each in outputs)
    return re.sub(r"\x1b\[[\d;]*m", "", "".join(texts))


def test_a_cell_is_recorded_and_reported_on(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "program.py").touch()
    early, _, cell, cached, failing, graphs, again, mistyped, program, profile, opened, whole = _of_cells(
        tmp_path,
        environment,
        "%load_ext dynamo\n%load_ext dynamo_cli\n%dynamo",
        _SCORE,
        "%%dynamo\nfor n in (4, 5):\n    score(torch.ones(n))\nawait __import__('asyncio').sleep(0, 'value')",
        "%%dynamo\nscore(torch.ones(4))",
        "%%dynamo\nscore(torch.ones(4, 4, requires_grad=True))\n1 / 0",
        "%dynamo graphs --compile-id 0/0",
        "%unload_ext dynamo\n%load_ext dynamo\n%dynamo breaks --format markdown",
        "%dynamo explian",
        "%dynamo explain program.py",
        "%dynamo profile",
        "import dynamo_core, gc\nprint(gc.isenabled())\ndynamo_core.open()",
        "%%dynamo --all\nscore(torch.ones(2, 2, 2))",
    )
    assert "torch is not imported yet" in _text(early)

    value, report = cell
    assert value.data["text/plain"] == "'value'"
    assert report.data["text/plain"].startswith("4 graphs, 8 ops, 2 graph breaks, 2 recompiles; compiling")
    assert "2 recompiles at In[2]:4, 6" in report.data["text/plain"]
    number = " (GB0170)" if TORCH >= (2, 9) else ""  # 2.8 does not number its breaks
    shown = report.data["text/html"]
    assert f"graph break at In[2]:5 Data-dependent branching{number} (2 times)" in shown
    assert "<script" not in report.data["text/html"]

    assert "`%%dynamo --all` has 4 findings in full" in report.data["text/plain"]
    assert "has 3 findings" not in _text(whole) and "Where compile time went" in _text(whole)

    assert _text(cached[1:]).startswith("Nothing was compiled in this cell.")

    error, report = failing
    assert (error.output_type, error.ename) == ("error", "ZeroDivisionError")
    assert report.data["text/plain"].startswith("2 graphs")

    assert len(graphs) == 1
    assert "graph 1 [0/0] score (In[2]:3): 1 input, 3 ops, 2 outputs" in _text(graphs)
    assert "graph 2" not in _text(graphs)
    assert "In\\[2\\]:5 Data-dependent branching" in _text(again)
    assert "no such report 'explian'; did you mean 'explain'?" in _text(mistyped)
    assert "%dynamo runs no program; try !dynamo explain program.py" in _text(program)
    assert "importing torch" in _text(profile)
    assert "no last record" not in _text(profile), "the kernel that reads goes on"
    assert "starting Python" not in _text(profile), "it was recorded only when that had long been done"
    assert _text(opened).startswith("True\n<Case of ")
    assert "<strong>6 graphs" in opened[-1].data["text/html"]


def test_the_kernel_leaves_a_recording_that_commands_read(
    tmp_path: Path, environment: dict[str, str], read: Runner
) -> None:
    _of_cells(tmp_path, environment, "%load_ext dynamo", _SCORE, "score(torch.ones(3))")
    assert "graph break at In[2]:5" in read("explain").stdout


def test_what_cannot_be_recorded_is_said_in_a_line_and_the_cell_runs(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / ".dynamo").touch()
    refused, _, removed = _of_cells(
        tmp_path,
        environment,
        "%load_ext dynamo",
        "import os, shutil\nos.remove('.dynamo')\n%load_ext dynamo\nimport torch",
        "%%dynamo\nshutil.rmtree('.dynamo')\ntorch.compile(torch.sin, backend='eager')(torch.zeros(1))",
    )
    assert _text(refused) == (
        f"UsageError: cannot record to {tmp_path}/.dynamo: File exists; change to another folder with %cd\n"
    )
    value, problem = removed
    assert value.data["text/plain"] == "tensor([0.])"
    assert re.fullmatch(r"%%dynamo: .+\n", problem.text)


def test_under_dynamo_run_the_magics_report_on_the_recording_of_the_run(run: Runner, tmp_path: Path) -> None:
    cells = ["%load_ext dynamo", _SCORE, "%%dynamo\nscore(torch.ones(3))"]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    ran = run("run", "-o", "here", "notebook.ipynb", env={"IPYTHONDIR": str(tmp_path / "ipython")})
    assert ran.exit_code == 0, ran.stderr
    assert "graph break at In[2]:5" in ran.stdout
    assert ran.stdout.count("graph break at") == 1
    assert not (tmp_path / ".dynamo").exists()


@pytest.mark.skipif(TORCH < (2, 9), reason="torch 2.8 does not number its breaks, as the docs show them")
def test_the_notebook_of_the_docs_shows_what_its_cells_give() -> None:
    """Where it does not: `./dev examples` executes it again."""
    from support.doc_notebook import executed_notebook, no_longer_shown, stored_notebook

    assert no_longer_shown(stored_notebook(), executed_notebook()) == []
