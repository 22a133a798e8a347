"""The command line: it parses, calls, and turns errors into one line; nothing else.

Nothing is imported here: `python -m dynamo_cli` does so before the user's folder is off `sys.path`.
"""


def load_ipython_extension(shell: object) -> None:
    """Give IPython the magics; it calls this for `%load_ext dynamo_cli`."""
    from .notebook import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take them away again; for `%unload_ext dynamo_cli`."""
    from .notebook import unload_ipython_extension

    unload_ipython_extension(shell)
