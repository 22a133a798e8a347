"""`%load_ext dynamo` in IPython. There is nothing else here: the tool is in dynamo_cli.

NVIDIA Dynamo has a namespace package of this name. Its modules are found beside this one, wherever they are.
"""

from pkgutil import extend_path
from typing import Any

__path__ = extend_path(__path__, __name__)


def load_ipython_extension(shell: Any) -> None:
    """Give IPython the magics; it calls this for `%load_ext dynamo`."""
    from dynamo_cli.notebook import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away again; for `%unload_ext dynamo`."""
    from dynamo_cli.notebook import unload_ipython_extension

    unload_ipython_extension(shell)
