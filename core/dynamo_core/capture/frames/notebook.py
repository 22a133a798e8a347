"""The notebook whose file IPython runs: `ipython x.ipynb`, which `dynamo run x.ipynb` starts."""

import sys


def cells_of_program() -> list[str]:
    """The code cells of the notebook that this process runs, in order, without the empty ones.

    There are none where it runs something else, or is a kernel, which has no file.
    Source: IPython/core/shellapp.py (_exec_file: the notebook is sys.argv[0]) and interactiveshell.py
    (safe_execfile_ipy: nbformat reads it), read in 9.18.
    """
    file = sys.argv[0] if getattr(sys, "argv", None) else ""
    nbformat = sys.modules.get("nbformat")
    if nbformat is None or not file.endswith(".ipynb"):
        return []
    try:
        cells = nbformat.read(file, as_version=4).cells
    except (OSError, ValueError):  # the program has moved or changed it since
        return []
    return [cell.source for cell in cells if cell.cell_type == "code" and cell.source.strip()]
