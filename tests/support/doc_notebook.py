"""docs/notebook.ipynb: executed in a kernel of its own, and what is compared of its outputs."""

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import nbclient
import nbformat

from support.doc_examples import REPOSITORY, comparable

FILE = REPOSITORY / "docs" / "notebook.ipynb"
_LINE_END = re.compile(r"\n|(?=<tr>)")
_BY_TIME = re.compile(r"(?m)^((?:<p[^>]*>)? *)\d+\. |; saves at most [^<\n]*")
_VERSIONS = re.compile(r"\btorch \d[\w.+]*, Python \d[\d.]*")
_RECORDING = re.compile(r"\bnotebook-\d+-\d+-\d+")


def stored_notebook() -> Any:
    """The notebook as it is in the docs."""
    return nbformat.read(FILE, as_version=4)


def executed_notebook() -> Any:
    """The same with the outputs that its cells give now; an error in a cell is raised."""
    notebook = stored_notebook()
    metadata = dict(notebook.metadata)
    varies = ("DYNAMO_", "TORCH", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(varies)}
    with tempfile.TemporaryDirectory(prefix="dynamo_doc_") as folder:
        client = nbclient.NotebookClient(
            notebook,
            timeout=120,
            record_timing=False,
            coalesce_streams=True,  # else a line may be cut in two where the kernel flushes
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=kept | {"IPYTHONDIR": str(Path(folder) / "ipython"), "OMP_NUM_THREADS": "1"})
    notebook.metadata = nbformat.from_dict(metadata)  # without this machine's versions
    return notebook


def no_longer_shown(stored: Any, now: Any) -> list[str]:
    """The lines of the stored outputs that are not in those of now, but for what varies from run to run.

    Reports are sorted by times, and have a line more where a busy machine took long, so that neither the
    order, nor the numbers that follow from it, nor such a line or saving is compared.
    """
    pairs = zip(_lines(stored), _lines(now), strict=True)
    return [line for was, is_now in pairs for line in (Counter(was) - Counter(is_now))]


def _lines(notebook: Any) -> list[list[str]]:
    """What each code cell shows."""
    shown = ("\n".join(map(_shown, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code")
    same = (_VERSIONS.sub("", _RECORDING.sub("notebook", text)) for text in shown)
    return [_LINE_END.split(comparable(_BY_TIME.sub(r"\1", text))) for text in same]


def _shown(output: Any) -> str:
    """The text of an output; where it has HTML, that is what a notebook shows."""
    data = output.get("data", {})
    return str(output.get("text") or data.get("text/html") or data.get("text/plain", ""))


def replace_notebook() -> None:
    """Put the outputs as they are now into the docs, where they say something else."""
    now = executed_notebook()
    if no_longer_shown(stored_notebook(), now):
        nbformat.write(now, FILE)
        print(f"{FILE.relative_to(REPOSITORY)}: executed again")


if __name__ == "__main__":
    replace_notebook()
