"""The command line: it parses, calls, and turns errors into one line; nothing else."""

TYPE_CHECKING = False  # of `python -m dynamo_cli`, the working directory is still on the path: no import here
if TYPE_CHECKING:
    from typing import Any


def load_ipython_extension(shell: "Any") -> None:
    """Give IPython the magics; it calls this for `%load_ext dynamo_cli`."""
    from .notebook import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: "Any") -> None:
    """Take them away again; for `%unload_ext dynamo_cli`."""
    from .notebook import unload_ipython_extension

    unload_ipython_extension(shell)
